import { type Alert, type AlertFilter, MAX_BULK } from "@lanthorn/contract";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Mark, SeverityMark } from "../parts/mark.tsx";
import { Page } from "../parts/page.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { useCursorList } from "../states/use-list.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { AlertFilters } from "./alert-filters.tsx";
import styles from "./alerts-page.module.css";
import { BulkDialog, type Changing } from "./bulk-dialog.tsx";

const route = getRouteApi("/alerts");
const PAGE_SIZE = 100;
/** What somebody still has to do something about. */
const PENDING = "open,acknowledged";

/** Alerts beside the one that is looked at; on a narrow screen one or the other. */
export function AlertsPage() {
  const { rest } = useSession();
  const { page: _page, per_page: _perPage, cursor: _cursor, ...search } = route.useSearch();
  const { alertId } = useParams({ strict: false });
  const filter = { status: PENDING, ...search };
  const alerts = useCursorList({
    queryKey: ["alerts", "list", filter], read: (cursor) => rest.listAlerts({ ...filter, per_page: PAGE_SIZE, cursor }),
  });
  const list = alerts.data?.list ?? [];
  /** What is changed is what was there when it was asked for, whatever the list is by now. */
  const [changing, setChanging] = useState<Changing | null>(null);
  const total = alerts.data?.total ?? 0;
  const mayChange = useMay("alerts:write") && filter.filter === undefined && total > 0 && total <= MAX_BULK;
  const { sort: _sort, filter: _text, ...given } = filter;
  const conditions = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined)) as AlertFilter;
  const change = mayChange ? () => setChanging({ filter: conditions, total }) : null;
  useListCommands(list, alertId, change);
  const isFiltered = Object.keys(search).some((name) => name !== "site_id" && name !== "sort");
  return (
    <Page title="Alerts" isFull note={alerts.data ? `${alerts.data.total.toLocaleString("en")} ${search.status === undefined ? "pending" : "alerts"}` : "…"} actions={change && <Button onClick={change}>Change all {total.toLocaleString("en")}</Button>}>
      {changing && <BulkDialog of={changing} onClose={() => setChanging(null)} />}
      <div className={styles["columns"]} data-detail={alertId !== undefined}>
        <div className={styles["list"]}>
          <AlertFilters conditions={conditions} filter={filter.filter} />
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
          <span className={styles["when"]}>{alert.count > 1 && `${alert.count} × `}<Moment at={alert.last_seen} /></span>
        </span>
        <span className={styles["title"]}><Foreign text={alert.title} /></span>
      </Link>
    </li>
  );
}

/** @param change Changes all of them; null for who may not. */
function useListCommands(list: readonly Alert[], alertId: string | undefined, change: (() => void) | null): void {
  const navigate = useNavigate();
  const latest = useRef({ list, alertId, change, place: -1 });
  useEffect(() => {
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
      ...(canChange ? [{ id: "change alerts", title: "Change all of these alerts", group: "This page", keys: "b", run: () => latest.current.change?.() } as const] : []),
    ];
  }, [navigate, canChange]));
}
