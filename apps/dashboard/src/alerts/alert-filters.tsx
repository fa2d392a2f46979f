import { ALERT_SOURCES, type AlertFilter, Severity } from "@lanthorn/contract";
import { getRouteApi } from "@tanstack/react-router";
import { Choose, choicesOf } from "../fields/choose.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { useSession } from "../session/use-session.ts";
import { FacetList } from "../states/facets.tsx";
import styles from "./alert-filters.module.css";

const route = getRouteApi("/alerts");
const STATUSES = { "": "Pending", open: "Open", acknowledged: "Acknowledged", resolved: "Resolved", "open,acknowledged,resolved": "All" };
const SORTS = { "": "Newest first", "-severity": "Most urgent first", "-count": "Most frequent first", first_seen: "Oldest first" };

const FACETS = { severity: "Severity", source: "Source", type: "Kind" } as const;

/** Which alerts are listed, as the address says. @param props.conditions What of it the list has, its usual state too. @param props.filter And its text, in the filter language. */
export function AlertFilters({ conditions, filter }: { readonly conditions: AlertFilter; readonly filter: string | undefined }) {
  const { rest } = useSession();
  const search = route.useSearch();
  const counted = { ...conditions, filter };
  const navigate = route.useNavigate();
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
        summary="Severities, sources and kinds" fields={FACETS} chosen={conditions} queryKey={["alerts", "facets", counted]} read={() => rest.countAlerts(counted)}
        show={(_, value) => value.replaceAll("_", " ")} onChoose={(name, value) => set(name, value ?? "")}
      />
    </div>
  );
}
