import { type AffectedCve, CveSeverity } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Button } from "../parts/button.tsx";
import { Choose, choicesOf } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { Mark, SeverityMark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { Table } from "../fields/table.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { useNumberedList } from "../states/use-list.ts";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { percent } from "../texts/percent.ts";
import styles from "./vulnerabilities-page.module.css";

const route = getRouteApi("/vulnerabilities");
const PAGE_SIZE = 100;

/** CVEs that concern devices: what is exploited already comes first, then what likely will be. */
export function VulnerabilitiesPage() {
  const { rest } = useSession();
  const { page: _page, per_page: _perPage, cursor: _cursor, ...filter } = route.useSearch();
  const cves = useNumberedList({ queryKey: ["cve", "affected", filter], read: (page) => rest.listAffectedCves({ ...filter, page, per_page: PAGE_SIZE }) });
  const database = useQuery({ queryKey: ["cve", "database"], queryFn: () => rest.readCveDatabase() });
  const isFiltered = Object.keys(filter).some((name) => name !== "site_id");
  return (
    <Page
      title="Vulnerabilities"
      note={<>{cves.data ? `${count(cves.data.total, "CVE")} on your devices` : "…"}{database.data && <> · database of {count(database.data.total_entries, "record")}, {database.data.last_update === null ? "not downloaded yet" : <>updated <Moment at={database.data.last_update} /></>}</>}</>}
    >
      <Filters />
      <Panel title="CVEs and the devices that have them" isFlush>
        <Answer query={cves}>
          {({ list, total }) => (total === 0 ? (
            <Empty title={isFiltered ? "The filter leaves nothing" : "No vulnerabilities known"}>
              {database.data?.total_entries === 0 ? "The CVE database is empty: the collector has not downloaded it yet." : "No software found on your devices has a known vulnerability."}
            </Empty>
          ) : (
            <>
              <Table heads={["CVE", "Severity", "Exploited", "What it is", "Devices"]}>{list.map((cve) => <CveRow key={cve.cve_id} cve={cve} />)}</Table>
              {cves.hasNextPage && <p className={styles["more"]}><Button onClick={() => void cves.fetchNextPage()} disabled={cves.isFetchingNextPage}>Show more</Button></p>}
            </>
          ))}
        </Answer>
      </Panel>
    </Page>
  );
}

function CveRow({ cve }: { readonly cve: AffectedCve }) {
  return (
    <tr>
      <td className={styles["id"]}><code>{cve.cve_id}</code></td>
      <td>{cve.severity === null ? "not rated" : <SeverityMark severity={cve.severity}>{cve.severity} {cve.cvss_score ?? ""}</SeverityMark>}</td>
      <td>{cve.known_exploited ? <Mark tone="critical">known</Mark> : cve.epss === null ? "–" : percent(cve.epss, 1)}</td>
      <td className={styles["text"]}><Foreign text={cve.description} longest={240} /></td>
      <td>
        <ul className={styles["devices"]}>
          {cve.affected_devices.slice(0, 5).map((device) => (
            <li key={`${device.device_id} ${device.product} ${device.matched_port} ${device.protocol}`}>
              <Link to="/devices/$deviceId" params={{ deviceId: device.device_id }}><Foreign text={device.hostname || device.ip} longest={60} /></Link>
              {" "}<Foreign text={`${device.product} ${device.version}`} longest={60} />{device.matched_port !== null && ` at ${device.matched_port}/${device.protocol}`}
            </li>
          ))}
        </ul>
        {cve.affected_devices_total > 5 && `${cve.affected_devices_total} in all`}
      </td>
    </tr>
  );
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: "severity" | "known_exploited" | "search", value: string) =>
    void navigate({ search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  return (
    <div className={filters["filters"]} role="search">
      <SearchBox label="Search vulnerabilities" placeholder="CVE or words of its description" longest={200} given={search.search} onChange={(text) => set("search", text)} />
      <Choose label="Severity" value={search.severity} options={choicesOf(CveSeverity.options, "Any severity")} onChange={(value) => set("severity", value)} />
      <label><input type="checkbox" checked={search.known_exploited === "true"} onChange={(event) => set("known_exploited", event.target.checked ? "true" : "")} />Known to be exploited</label>
    </div>
  );
}
