import { type IpamConflict, type IpamPrefix, PREFIX_STATUSES } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Choose, choicesOf } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Mark, type Tone } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { Table } from "../fields/table.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { Answer, Empty } from "../states/answer.tsx";
import { useNumberedList } from "../states/use-list.ts";
import { count } from "../texts/count.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import styles from "./ipam.module.css";
import { PrefixDialog } from "./prefix-dialog.tsx";

const route = getRouteApi("/ipam");
const PAGE_SIZE = 200;
const MAX_CONFLICTS = 20;
const TONES: Readonly<Record<IpamPrefix["status"], Tone>> = { active: "good", container: "calm", reserved: "warn", deprecated: "calm" };
const CONFLICTS: Readonly<Record<IpamConflict["kind"], string>> = {
  wrong_mac: "another MAC than the recorded one", reserved_in_use: "reserved, and in use", duplicate_address: "several devices use it", outside_prefixes: "in no recorded prefix",
};

/** The plan of networks, and where the network differs from it. */
export function IpamPage() {
  const mayWrite = useMay("ipam:write");
  const [isAdding, setAdding] = useState(false);
  useCommands(useMemo((): readonly Command[] => (mayWrite ? [
    { id: "add prefix", title: "Add a prefix", group: "This page", keys: "n", run: () => setAdding(true) },
  ] : []), [mayWrite]));
  return (
    <Page
      title="IPAM" note="Which networks are planned for what, and where the network differs from the plan."
      actions={mayWrite && <Button kind="primary" onClick={() => setAdding(true)}><Icon name="plus" />Add a prefix</Button>}
    >
      {isAdding && <PrefixDialog onClose={() => setAdding(false)} />}
      <Filters />
      <Prefixes />
      <Conflicts />
    </Page>
  );
}

function Filters() {
  const { search, status } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: "search" | "status", value: string) => void navigate({ search: (before) => ({ ...before, [name]: value || undefined }), replace: true });
  return (
    <div className={filters["filters"]} role="search">
      <SearchBox label="Search prefixes" placeholder="Prefix, name or description" longest={255} given={search} onChange={(text) => set("search", text)} />
      <Choose label="State" value={status} options={choicesOf(PREFIX_STATUSES, "Any state")} onChange={(value) => set("status", value)} />
    </div>
  );
}

function Prefixes() {
  const { rest } = useSession();
  const { site_id, search, status } = route.useSearch();
  const filter = { site_id, search, status };
  const prefixes = useNumberedList({ queryKey: ["ipam", "prefixes", filter], read: (page) => rest.listIpamPrefixes({ ...filter, page, per_page: PAGE_SIZE }) });
  return (
    <Panel title={prefixes.data ? count(prefixes.data.total, "prefix", "prefixes") : "Prefixes"} isFlush>
      <Answer query={prefixes}>
        {({ list, total }) => (total === 0 ? (
          <Empty title={search === undefined && status === undefined ? "No prefixes yet" : "The filter leaves nothing"}>{search === undefined && status === undefined ? "Add the networks of your sites; what devices use is compared with them." : "No prefix is like this."}</Empty>
        ) : (
          <>
            <Table heads={["Prefix", "Name", "Site", "VLAN", "State"]}><PrefixRows prefixes={list} /></Table>
            {prefixes.hasNextPage && <p className={styles["more"]}><Button onClick={() => void prefixes.fetchNextPage()} disabled={prefixes.isFetchingNextPage}>Show more</Button></p>}
          </>
        ))}
      </Answer>
    </Panel>
  );
}

function PrefixRows({ prefixes }: { readonly prefixes: readonly IpamPrefix[] }) {
  const sites = useSites().data?.data ?? [];
  const depths = new Map<string, number>();
  // Larger prefixes come first, so a parent is known before what is in it.
  for (const { id, parent_id: parent } of prefixes) depths.set(id, parent === null ? 0 : (depths.get(parent) ?? -1) + 1);
  return prefixes.map(({ id, prefix, name, description, site_id: siteId, vlan_id: vlan, status }) => (
    <tr key={id}>
      <td className={styles["prefix"]} data-depth={Math.min(depths.get(id) ?? 0, 4)}><Link to="/ipam/$prefixId" params={{ prefixId: id }}><code>{prefix}</code></Link></td>
      <td><strong><Foreign text={name} longest={80} /></strong>{description !== "" && <p className={styles["soft"]}><Foreign text={description} longest={160} /></p>}</td>
      <td>{siteId === null ? "all sites" : showForeign(sites.find((site) => site.id === siteId)?.name ?? "", 60)}</td>
      <td>{vlan ?? "–"}</td>
      <td><Mark tone={TONES[status]}>{status}</Mark></td>
    </tr>
  ));
}

function Conflicts() {
  const { rest } = useSession();
  const { site_id } = route.useSearch();
  const conflicts = useQuery({ queryKey: ["ipam", "conflicts", site_id], queryFn: () => rest.listIpamConflicts({ site_id, per_page: MAX_CONFLICTS }) });
  return (
    <Panel title="Where the network differs from the plan" isFlush>
      <Answer query={conflicts}>
        {({ data, meta }) => (data.length === 0 ? <Empty title="Nothing differs">Every address is used as it is recorded.</Empty> : (
          <>
            <Table heads={["IP address", "What differs", "Recorded MAC", "In use by"]}>
              {data.map(({ kind, ip, site_id: site, expected_mac: expected, observed }) => (
                <tr key={`${kind} ${ip} ${site}`}>
                  <td><code>{ip}</code></td><td>{CONFLICTS[kind]}</td><td>{expected === null ? "–" : <code>{expected}</code>}</td>
                  <td>{observed.slice(0, 4).map((holder) => <Holder key={`${holder.device_id} ${holder.mac}`} {...holder} />)}</td>
                </tr>
              ))}
            </Table>
            {meta.total > data.length && <p className={styles["more"]}>{meta.total.toLocaleString("en")} in all; these are the first.</p>}
          </>
        ))}
      </Answer>
    </Panel>
  );
}

/** A device that has an address now. */
export function Holder({ device_id: deviceId, hostname, mac }: Pick<IpamConflict["observed"][number], "device_id" | "hostname" | "mac">) {
  return <p><Link to="/devices/$deviceId" params={{ deviceId }}><Foreign text={hostname || mac || "a device"} longest={60} /></Link>{hostname !== "" && mac !== "" && <> <code>{mac}</code></>}</p>;
}
