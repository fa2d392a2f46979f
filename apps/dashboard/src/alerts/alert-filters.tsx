import { ALERT_SOURCES, Severity } from "@lanthorn/contract";
import { getRouteApi } from "@tanstack/react-router";
import { Choose, choicesOf } from "../fields/choose.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import styles from "./alert-filters.module.css";

const route = getRouteApi("/alerts");
const STATUSES = { "": "Pending", open: "Open", acknowledged: "Acknowledged", resolved: "Resolved", "open,acknowledged,resolved": "All" };
const SORTS = { "": "Newest first", "-severity": "Most urgent first", "-count": "Most frequent first", first_seen: "Oldest first" };

/** Which alerts are listed, as the address says. */
export function AlertFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: "status" | "severity" | "source" | "sort" | "search", value: string) =>
    void navigate({ to: ".", search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  return (
    <div className={styles["filters"]} role="search">
      <SearchBox label="Search alerts" placeholder="Title, text, subject or address" longest={255} given={search.search} onChange={(text) => set("search", text)} />
      <Choose label="State" value={search.status} options={STATUSES} onChange={(value) => set("status", value)} />
      <Choose label="Severity" value={search.severity} options={choicesOf(Severity.options, "Any severity")} onChange={(value) => set("severity", value)} />
      <Choose label="Source" value={search.source} options={choicesOf(ALERT_SOURCES, "Any source")} onChange={(value) => set("source", value)} />
      <Choose label="Order" value={search.sort} options={SORTS} onChange={(value) => set("sort", value)} />
    </div>
  );
}
