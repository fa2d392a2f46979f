import { type Alert, type AlertFilter, MAX_BULK } from "@lanthorn/contract";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Mark, SeverityMark } from "../parts/mark.tsx";
import { Page } from "../parts/page.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { useCursorList } from "../states/use-list.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { AtSite } from "../texts/zone.tsx";
import { DefaultView } from "../views/default-view.tsx";
import { ALERT_VIEWS, type Shown } from "../views/views.ts";
import { ViewsDialog } from "../views/views-dialog.tsx";
import { AlertFilters } from "./alert-filters.tsx";
import styles from "./alerts-page.module.css";
import { BulkDialog, type Changing } from "./bulk-dialog.tsx";

const route = getRouteApi("/alerts");
const PAGE_SIZE = 100;
/** What somebody still has to do something about. */
const PENDING = "open,acknowledged";
/** As the address says that all are listed, which without a state it does not. */
const ANY_STATUS = "open,acknowledged,resolved";

/** Alerts beside the one that is looked at; on a narrow screen one or the other. */
export function AlertsPage() {
  const { rest } = useSession();
  const { page: _page, per_page: _perPage, cursor: _cursor, sort, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const { alertId } = useParams({ strict: false });
  const given: AlertFilter = Object.fromEntries(Object.entries(search).filter(([, text]) => text !== undefined));
  const conditions = { status: PENDING, ...given };
  const { site_id: _site, ...filter } = conditions;
  const alerts = useCursorList({
    queryKey: ["alerts", "list", conditions, sort], read: (cursor) => rest.listAlerts({ ...conditions, sort, per_page: PAGE_SIZE, cursor }),
  });
  const list = alerts.data?.list ?? [];
  /** What is changed is what was there when it was asked for, whatever the list is by now. */
  const [changing, setChanging] = useState<Changing | null>(null);
  const total = alerts.data?.total ?? 0;
  const mayChange = useMay("alerts:write") && total > 0 && total <= MAX_BULK;
  const [isChoosing, setChoosing] = useState(false);
  const choose = useCallback(() => setChoosing(true), []);
  const show = useCallback(({ filter: { status = ANY_STATUS, ...next }, sort: order }: Shown<AlertFilter>) => {
    void navigate({ to: ".", search: (before) => ({ site_id: before.site_id, sort: order, ...next, status: status === PENDING ? undefined : status }), replace: true });
  }, [navigate]);
  const change = mayChange ? () => setChanging({ filter: conditions, total }) : null;
  useListCommands(list, alertId, { change, choose });
  const isFiltered = Object.keys(given).some((name) => name !== "site_id");
  return (
    <Page
      title="Alerts" isFull note={alerts.data ? `${alerts.data.total.toLocaleString("en")} ${search.status === undefined ? "pending" : "alerts"}` : "…"}
      actions={<>{change && <Button onClick={change}>Change all {total.toLocaleString("en")}</Button>}<Button onClick={choose}>Views</Button></>}
    >
      {isChoosing && <ViewsDialog of={ALERT_VIEWS} now={{ filter, sort, columns: [] }} onShow={show} onClose={() => setChoosing(false)} />}
      {changing && <BulkDialog of={changing} onClose={() => setChanging(null)} />}
      <div className={styles["columns"]} data-detail={alertId !== undefined}>
        <div className={styles["list"]}>
          <AlertFilters conditions={conditions} />
          <DefaultView of={ALERT_VIEWS} isPlain={!isFiltered} onShow={show} onChoose={choose} />
          <div className={styles["scroll"]}>
            <Answer query={alerts}>
              {({ total }) => (total === 0 ? (
                <Empty title={isFiltered ? "The filter leaves nothing" : "No pending alerts"}>{isFiltered ? "No alert is like this." : "Nothing needs you now."}</Empty>
              ) : (
                <>
                  <ul>{list.map((alert) => <AlertRow key={alert.id} alert={alert} isCurrent={alert.id === alertId} />)}</ul>
                  {alerts.hasNextPage && (
                    <p className={styles["more"]}><Button onClick={() => void alerts.fetchNextPage()} disabled={alerts.isFetchingNextPage}>Show more</Button></p>
                  )}
                </>
              ))}
            </Answer>
          </div>
        </div>
        <div className={styles["detail"]}>{alertId === undefined ? <Empty title="No alert is chosen">Choose one, or press J.</Empty> : <Outlet />}</div>
      </div>
    </Page>
  );
}

function AlertRow({ alert, isCurrent }: { readonly alert: Alert; readonly isCurrent: boolean }) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  return (
    <li ref={row} data-current={isCurrent}>
      <Link to="/alerts/$alertId" params={{ alertId: alert.id }} search={(before) => before} aria-current={isCurrent ? "true" : undefined}>
        <span className={styles["top"]}>
          <SeverityMark severity={alert.severity} />
          {alert.status !== "open" && <Mark tone={alert.status === "resolved" ? "good" : "calm"}>{alert.status}</Mark>}
          {alert.muted && <Mark tone="calm">muted</Mark>}
          <span className={styles["when"]}>{alert.count > 1 && `${alert.count} × `}<AtSite siteId={alert.site_id}><Moment at={alert.last_seen} /></AtSite></span>
        </span>
        <span className={styles["title"]}><Foreign text={alert.title} /></span>
      </Link>
    </li>
  );
}

/** @param acts.change Changes all of them; null for who may not. @param acts.choose Opens the saved views. */
function useListCommands(list: readonly Alert[], alertId: string | undefined, { change, choose }: { readonly change: (() => void) | null; readonly choose: () => void }): void {
  const navigate = useNavigate();
  const latest = useRef({ list, alertId, change, place: -1 });
  useLayoutEffect(() => {
    const place = list.findIndex(({ id }) => id === alertId);
    latest.current = { list, alertId, change, place: place === -1 && alertId !== undefined ? latest.current.place : place };
  });
  const canChange = change !== null;
  useCommands(useMemo((): readonly Command[] => {
    const move = (step: number) => {
      const { list: all, alertId: current, place } = latest.current;
      // What took the place of an alert that is resolved, and so is no longer in the list, is the next one.
      const isListed = all[place]?.id === current;
      const next = all[Math.max(0, isListed || step < 0 ? place + step : place)];
      if (next) void navigate({ to: "/alerts/$alertId", params: { alertId: next.id }, search: (before) => before, replace: current !== undefined });
    };
    return [
      { id: "next alert", title: "Next alert", group: "This page", keys: "j", run: () => move(1) },
      { id: "previous alert", title: "Previous alert", group: "This page", keys: "k", run: () => move(-1) },
      { id: "alert views", title: "Saved views of alerts", group: "This page", keys: "v", run: choose },
      ...(canChange ? [{ id: "change alerts", title: "Change all of these alerts", group: "This page", keys: "b", run: () => latest.current.change?.() } as const] : []),
    ];
  }, [navigate, canChange, choose]));
}
