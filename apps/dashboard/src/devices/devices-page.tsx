import { type DeviceFilter, MAX_BULK } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Empty } from "../states/answer.tsx";
import { Button } from "../parts/button.tsx";
import { saveBlob } from "../texts/save-blob.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { Icon } from "../parts/icon.tsx";
import { Moment } from "../texts/moment.tsx";
import { Page } from "../parts/page.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { DefaultView } from "./default-view.tsx";
import { DeviceGrid } from "./device-grid.tsx";
import styles from "./devices-page.module.css";
import { Facets } from "./facets.tsx";
import { FilterBox } from "./filter-box.tsx";
import type { Shown } from "./use-views.ts";
import { ViewsDialog } from "./views-dialog.tsx";

const route = getRouteApi("/devices");

/** Every device that the filter in the address leaves. */
export function DevicesPage() {
  const { rest } = useSession();
  const { sort = "ip", page: _page, per_page: _perPage, cursor: _cursor, ...given } = route.useSearch();
  const navigate = route.useNavigate();
  const [total, setTotal] = useState<number | null>(null);
  /** What is changed is what was there when it was asked for, whatever the list is by now. */
  const [changing, setChanging] = useState<{ readonly filter: DeviceFilter; readonly total: number } | null>(null);
  const [isChoosing, setChoosing] = useState(false);
  const mayEdit = useMay("devices:write");
  const [failure, setFailure] = useState<unknown>(null);
  const text = JSON.stringify(given);
  // The same object while it says the same: the grid begins anew with another one.
  const filter = useMemo(() => JSON.parse(text) as DeviceFilter, [text]);

  const setFilter = useCallback((next: DeviceFilter) => {
    void navigate({ search: (before) => ({ sort: before.sort, site_id: next.site_id ?? before.site_id, ...next }), replace: true });
  }, [navigate]);
  const setSort = (next: string) => void navigate({ search: (before) => ({ ...before, sort: next }), replace: true });
  const show = useCallback(({ filter: next, sort: order }: Shown) => {
    void navigate({ search: (before) => ({ sort: order, site_id: next.site_id ?? before.site_id, ...next }), replace: true });
  }, [navigate]);
  const save = useCallback(() => {
    setFailure(null);
    rest.exportDevices({ ...filter, sort }).then((csv) => saveBlob("devices.csv", new Blob([csv], { type: "text/csv" }))).catch(setFailure);
  }, [rest, filter, sort]);
  // Without a filter it would be every device: that is seldom meant.
  const canChange = mayEdit && Object.keys(filter).length > 0 && total !== null && total > 0 && total <= MAX_BULK;
  useCommands(useMemo((): readonly Command[] => [
    { id: "export devices", title: "Export these devices as CSV", group: "This page", keys: "e", run: save },
    { id: "saved views", title: "Saved views of devices", group: "This page", keys: "v", run: () => setChoosing(true) },
    ...(canChange ? [{ id: "change devices", title: "Change all of these devices", group: "This page", keys: "b", run: () => setChanging({ filter, total }) } as const] : []),
  ], [save, canChange, filter, total]));
  return (
    <Page
      title="Devices" isFull note={total === null ? "…" : `${total.toLocaleString("en")} ${total === 1 ? "device" : "devices"}`}
      actions={(
        <>
          {canChange && <Button onClick={() => setChanging({ filter, total })}>Change all {total.toLocaleString("en")}</Button>}
          <Button onClick={() => setChoosing(true)}>Views</Button>
          <Button onClick={save}><Icon name="download" />Export CSV</Button>
        </>
      )}
    >
      <div className={styles["content"]}>
        <div>
          <FilterBox filter={withoutSite(filter)} onChange={setFilter} />
          <Facets filter={filter} onChange={setFilter} />
          <DefaultView isPlain={Object.keys(withoutSite(filter)).length === 0} onShow={show} onChoose={() => setChoosing(true)} />
        </div>
        {failure !== null && <ErrorNote error={failure} onRetry={save} />}
        <DeviceGrid
          key={JSON.stringify([filter, sort])} filter={filter} sort={sort} onSort={setSort} onTotal={setTotal}
          empty={<NoDevices filter={filter} onClear={() => setFilter({})} />}
        />
      </div>
      {isChoosing && <ViewsDialog filter={withoutSite(filter)} sort={sort} onShow={show} onClose={() => setChoosing(false)} />}
      {changing && <BulkDialog {...changing} onClose={() => setChanging(null)} />}
    </Page>
  );
}

/** The site is chosen above, for every page. */
function withoutSite({ site_id: _siteId, ...filter }: DeviceFilter): DeviceFilter {
  return filter;
}

function NoDevices({ filter, onClear }: { readonly filter: DeviceFilter; readonly onClear: () => void }) {
  const { rest } = useSession();
  const probes = useQuery({ queryKey: ["probes"], queryFn: () => rest.listProbes({ per_page: 1000 }) });
  if (Object.keys(withoutSite(filter)).length > 0) {
    return <Empty title="The filter leaves nothing">No device is like this. <Button onClick={onClear}>Clear the filter</Button></Empty>;
  }
  const own = probes.data?.data.filter(({ site_id, state }) => state !== "revoked" && (filter.site_id === undefined || site_id === filter.site_id)) ?? [];
  const silent = own.find(({ state }) => state === "silent");
  if (silent) return <Empty title="The probe is silent">It was heard last <Moment at={silent.last_heard_at} />. Devices come when it is back.</Empty>;
  return (
    <Empty title="No devices yet">
      {own.length > 0 ? "The probe is looking. The first devices come within a minute." : (
        <p>A probe finds them. <Link to="/sites">Enroll one</Link></p>
      )}
    </Empty>
  );
}
