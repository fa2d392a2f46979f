import type { DnsQueryRow } from "@lanthorn/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Choose } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { Table } from "../fields/table.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { useCursorList } from "../states/use-list.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { AllowButton } from "./allow-button.tsx";
import styles from "../sensors/sensors.module.css";
import { SensorTabs } from "../sensors/tabs.tsx";

const route = getRouteApi("/sensors/dns/queries");
const PAGE_SIZE = 100;
const TONES = { resolved: "good", blocked: "bad", observed: "warn" } as const;
const ACTIONS = { "": "Any outcome", blocked: "Blocked", observed: "Observed", resolved: "Resolved" };

/** Queries that resolvers report, each with how often it was asked in its hour. */
export function DnsQueriesPage() {
  const { rest } = useSession();
  const navigate = route.useNavigate();
  const { page: _page, per_page: _perPage, cursor: _cursor, ...filter } = route.useSearch();
  const queries = useCursorList({
    queryKey: ["dns", "queries", filter], read: (cursor) => rest.listDnsQueries({ ...filter, per_page: PAGE_SIZE, cursor }),
  });
  const set = (name: "name" | "action", value: string) => void navigate({ search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  const isFiltered = Object.keys(filter).some((name) => name !== "site_id");
  return (
    <Page title="DNS queries" note="As far as the resolvers of the sites report them: their own configuration decides.">
      <SensorTabs />
      <div className={filters["filters"]} role="search">
        <SearchBox label="Name, and those below it" placeholder="example.com" longest={253} given={filter.name} onChange={(text) => set("name", text)} />
        <Choose label="What became of it" value={filter.action} options={ACTIONS} onChange={(value) => set("action", value)} />
        {(filter.client_ip ?? filter.device_id) !== undefined && <Button onClick={() => void navigate({ search: (before) => ({ ...before, client_ip: undefined, device_id: undefined }) })}>Of every client</Button>}
      </div>
      <Panel title="Newest queries" isFlush>
        <Answer query={queries}>
          {({ list }) => (list.length === 0 ? <Empty title={isFiltered ? "The filter leaves nothing" : "No DNS queries yet"}>{isFiltered ? "No query matches." : "Resolvers report what they blocked, or all, when dns.toml says so under [queries]."}</Empty> : (
            <>
              <Table heads={["Last asked", "Name", "Type", "Became", "Client", "Times", "Action"]}>{list.map((row) => <QueryRow key={row.id} row={row} />)}</Table>
              {queries.hasNextPage && <p className={styles["more"]}><Button onClick={() => void queries.fetchNextPage()} disabled={queries.isFetchingNextPage}>Show more</Button></p>}
            </>
          ))}
        </Answer>
      </Panel>
    </Page>
  );
}

function QueryRow({ row }: { readonly row: DnsQueryRow }) {
  return (
    <tr>
      <td><Moment at={row.last_at} /></td>
      <td className={styles["name"]}><Foreign text={row.name} longest={120} /></td>
      <td><Foreign text={row.type} longest={12} /></td>
      <td><Mark tone={TONES[row.action]}>{row.action}</Mark>{row.list !== "" && <span className={styles["soft"]}> <Foreign text={row.list} longest={60} /></span>}</td>
      <td>{row.device_id === null ? row.client_ip : <Link to="/devices/$deviceId" params={{ deviceId: row.device_id }}>{row.client_ip}</Link>}</td>
      <td>{row.times.toLocaleString("en")}</td>
      <td>{row.action === "blocked" && <AllowButton name={row.name} />}</td>
    </tr>
  );
}
