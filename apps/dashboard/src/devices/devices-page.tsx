import { type DeviceFilter, MAX_BULK } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Empty } from "../states/answer.tsx";
import { Button } from "../parts/button.tsx";
import { count } from "../texts/count.ts";
import { saveBlob } from "../texts/save-blob.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { Icon } from "../parts/icon.tsx";
import { Moment } from "../texts/moment.tsx";
import { Page } from "../parts/page.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { useKeptPreferences } from "../shell/kept-preferences.ts";
import { DefaultView } from "../views/default-view.tsx";
import { DEVICE_VIEWS, type Shown } from "../views/views.ts";
import { ViewsDialog } from "../views/views-dialog.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";
import { columnsOf } from "./columns.tsx";
import { ColumnsDialog } from "./columns-dialog.tsx";
import { DeviceGrid } from "./device-grid.tsx";
import styles from "./devices-page.module.css";
import { Facets } from "./facets.tsx";
import { FilterBox } from "./filter/filter-box.tsx";

const route = getRouteApi("/devices");

/** Every device that the filter in the address leaves. */
export function DevicesPage() {
  const { rest } = useSession();
  const { sort = "ip", columns: named, page: _page, per_page: _perPage, cursor: _cursor, ...given } = route.useSearch();
  const navigate = route.useNavigate();
  const [{ total, waiting }, setCount] = useState<{ readonly total: number | null; readonly waiting: string }>({ total: null, waiting: "" });
  const onCount = useCallback((counted: number | null, beside: string) => setCount({ total: counted, waiting: beside }), []);
  const [edition, setEdition] = useState(0);
  const showNow = () => setEdition((before) => before + 1);
  /** What is changed is what was there when it was asked for, whatever the list is by now. */
  const [changing, setChanging] = useState<{ readonly filter: DeviceFilter; readonly total: number } | null>(null);
  const [dialog, setDialog] = useState<"views" | "columns" | null>(null);
  const mayEdit = useMay("devices:write");
  const [failure, setFailure] = useState<unknown>(null);
  const text = JSON.stringify(given);
  // The same object while it says the same: the grid begins anew with another one.
  const filter = useMemo(() => JSON.parse(text) as DeviceFilter, [text]);

  const setFilter = useCallback((next: DeviceFilter) => {
    void navigate({ search: (before) => ({ sort: before.sort, columns: before.columns, site_id: next.site_id ?? before.site_id, ...next }), replace: true });
  }, [navigate]);
  const setSort = (next: string) => void navigate({ search: (before) => ({ ...before, sort: next }), replace: true });
  const show = useCallback(({ filter: next, sort: order, columns: shown }: Shown<DeviceFilter>) => {
    void navigate({ search: (before) => ({ sort: order, columns: shown.join(","), site_id: next.site_id ?? before.site_id, ...next }), replace: true });
  }, [navigate]);
  const kept = useKeptPreferences().data?.columns.devices;
  const columns = useMemo(() => columnsOf(named?.split(",") ?? kept ?? []), [named, kept]);
  const setColumns = (names: readonly string[] | undefined) => void navigate({ search: (before) => ({ ...before, columns: names?.join(",") }), replace: true });
  const save = useCallback(() => {
    setFailure(null);
    rest.exportDevices({ ...filter, sort }).then((csv) => saveBlob("devices.csv", new Blob([csv], { type: "text/csv" }))).catch(setFailure);
  }, [rest, filter, sort]);
  // Without a filter it would be every device: that is seldom meant.
  const canChange = mayEdit && Object.keys(filter).length > 0 && total !== null && total > 0 && total <= MAX_BULK;
  useCommands(useMemo((): readonly Command[] => [
    { id: "export devices", title: "Export these devices as CSV", group: "This page", keys: "e", run: save },
    { id: "saved views", title: "Saved views of devices", group: "This page", keys: "v", run: () => setDialog("views") },
    { id: "columns", title: "Columns of the list", group: "This page", keys: "c", run: () => setDialog("columns") },
    ...(canChange ? [{ id: "change devices", title: "Change all of these devices", group: "This page", keys: "b", run: () => setChanging({ filter, total }) } as const] : []),
  ], [save, canChange, filter, total]));
  return (
    <Page
      title="Devices" isFull note={<Count total={total} waiting={waiting} onShow={showNow} />}
      actions={(
        <>
          {canChange && <Button onClick={() => setChanging({ filter, total })}>Change all {total.toLocaleString("en")}</Button>}
          <Button onClick={() => setDialog("views")}>Views</Button>
          <Button onClick={() => setDialog("columns")}>Columns</Button>
          <Button onClick={save}><Icon name="download" />Export CSV</Button>
        </>
      )}
    >
      <div className={styles["content"]}>
        <div>
          <FilterBox filter={withoutSite(filter)} siteId={filter.site_id} onChange={setFilter} />
          <Facets filter={filter} onChange={setFilter} />
          <DefaultView of={DEVICE_VIEWS} isPlain={Object.keys(withoutSite(filter)).length === 0} onShow={show} onChoose={() => setDialog("views")} />
        </div>
        {failure !== null && <ErrorNote error={failure} onRetry={save} />}
        <DeviceGrid
          key={JSON.stringify([filter, sort])} filter={filter} sort={sort} edition={edition} columns={columns} onSort={setSort} onCount={onCount}
          empty={<NoDevices filter={filter} onClear={() => setFilter({})} />}
        />
      </div>
      {dialog === "views" && <ViewsDialog of={DEVICE_VIEWS} now={{ filter: withoutSite(filter), sort, columns: columns.map(({ id }) => id) }} onShow={show} onClose={() => setDialog(null)} />}
      {dialog === "columns" && <ColumnsDialog shown={columns} onShow={setColumns} onClose={() => setDialog(null)} />}
      {changing && <BulkDialog {...changing} onChanged={showNow} onClose={() => setChanging(null)} />}
    </Page>
  );
}

/** How many there are. What came or went meanwhile waits for a click: it would move rows under the pointer. */
function Count({ total, waiting, onShow }: { readonly total: number | null; readonly waiting: string; readonly onShow: () => void }) {
  return (
    <span className={styles["count"]} role="status">
      {total === null ? "…" : <span>{count(total, "device")}</span>}
      {waiting !== "" && <button type="button" onClick={onShow}>{waiting}: show</button>}
    </span>
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
