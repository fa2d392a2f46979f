import { ALERT_SOURCES, type AlertFilter, formatAlertFilter, Severity } from "@lanthorn/contract";
import { getRouteApi } from "@tanstack/react-router";
import { Choose, choicesOf } from "../fields/choose.tsx";
import { Button } from "../parts/button.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { useSession } from "../session/use-session.ts";
import { FacetList } from "../states/facets.tsx";
import { showForeign } from "../texts/foreign.tsx";
import { kindName, words } from "../texts/words.ts";
import styles from "./alert-filters.module.css";

const route = getRouteApi("/alerts");
const STATUSES = { "": "Pending", open: "Open", acknowledged: "Acknowledged", resolved: "Resolved", "open,acknowledged,resolved": "All" };
const SORTS = { "": "Newest first", "-severity": "Most urgent first", "-count": "Most frequent first", first_seen: "Oldest first" };

const FACETS = { severity: "Severity", source: "Source", type: "Kind" } as const;

/** Which alerts are listed, as the address says. @param props.conditions What of it the list has, its usual state too. */
export function AlertFilters({ conditions }: { readonly conditions: AlertFilter }) {
  const { rest } = useSession();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  /** What nothing else here shows. */
  const others = formatAlertFilter({ device_id: search.device_id, since: search.since, until: search.until });
  const clear = () => void navigate({ to: ".", search: ({ device_id: _device, since: _since, until: _until, ...kept }) => kept, replace: true });
  const set = (name: "status" | "severity" | "source" | "type" | "sort" | "search", value: string) =>
    void navigate({ to: ".", search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  return (
    <div className={styles["filters"]} role="search">
      <SearchBox label="Search alerts" placeholder="Title, text, subject or address" longest={255} given={search.search} onChange={(text) => set("search", text)} />
      <Choose label="State" value={search.status} options={STATUSES} onChange={(value) => set("status", value)} />
      <Choose label="Severity" value={search.severity} options={choicesOf(Severity.options, "Any severity")} onChange={(value) => set("severity", value)} />
      <Choose label="Source" value={search.source} options={choicesOf(ALERT_SOURCES, "Any source")} onChange={(value) => set("source", value)} />
      <Choose label="Order" value={search.sort} options={SORTS} onChange={(value) => set("sort", value)} />
      <FacetList<keyof typeof FACETS>
        summary="Severities, sources and kinds" fields={FACETS} chosen={conditions} queryKey={["alerts", "facets", conditions]} read={() => rest.countAlerts(conditions)}
        show={(name, value) => (name === "type" ? kindName(value) : words(value))} onChoose={(name, value) => set(name, value ?? "")}
      />
      {others !== "" && <p className={styles["others"]}><code>{showForeign(others)}</code> <Button onClick={clear}>Any device and time</Button></p>}
    </div>
  );
}
