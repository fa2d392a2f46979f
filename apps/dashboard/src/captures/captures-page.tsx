import { type Pcap, PCAP_RECORD_STATES } from "@lanthorn/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Choose } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { useCursorList } from "../states/use-list.ts";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { formatSize } from "../texts/size.ts";
import { CaptureDialog } from "./capture-dialog.tsx";
import styles from "./captures-page.module.css";
import { DownloadButton } from "./download.tsx";
import { CaptureState, isUnderway, STATE_NAMES } from "./state.tsx";

const route = getRouteApi("/captures");
const PAGE_SIZE = 50;
const STATES = { "": "Any state", ...Object.fromEntries(PCAP_RECORD_STATES.map((state) => [state, STATE_NAMES[state]])) };
const REASONS = { "": "For any reason", alert: "Evidence of an alert", request: "Started by somebody", export: "Cut by somebody" };
const KEPT = { "": "Locked or not", true: "Locked", false: "Not locked" };

/** Captures of packets, the newest first. */
export function CapturesPage() {
  const { rest } = useSession();
  const { page: _page, per_page: _perPage, cursor: _cursor, ...filter } = route.useSearch();
  const mayStart = useMay("pcap:write");
  const [isStarting, setStarting] = useState(false);
  const captures = useCursorList({
    queryKey: ["captures", "list", filter], read: (cursor) => rest.listPcaps({ ...filter, per_page: PAGE_SIZE, cursor }), isUnderway,
  });
  useCommands(useMemo((): readonly Command[] => (mayStart ? [
    { id: "start capture", title: "Start a capture", group: "This page", keys: "n", run: () => setStarting(true) },
  ] : []), [mayStart]));
  const isFiltered = Object.keys(filter).some((name) => name !== "site_id");
  return (
    <Page
      title="Captures" note="Packets as files for Wireshark: around alerts, and what somebody had recorded."
      actions={mayStart && <Button kind="primary" onClick={() => setStarting(true)}><Icon name="plus" />Start a capture</Button>}
    >
      {isStarting && <CaptureDialog onClose={() => setStarting(false)} />}
      <Filters />
      <Panel title={captures.data ? count(captures.data.total, "capture") : "Captures"} isFlush>
        <Answer query={captures}>
          {({ list, total }) => (total === 0 ? (
            <Empty title={isFiltered ? "The filter leaves nothing" : "No capture yet"}>
              {isFiltered ? "No capture is like this." : <>Probes make one around each alert where their configuration names an interface: <code>[traffic] interfaces = ["eth1"]</code></>}
            </Empty>
          ) : (
            <>
              <CapturesTable captures={list} />
              {captures.hasNextPage && <p className={styles["more"]}><Button onClick={() => void captures.fetchNextPage()} disabled={captures.isFetchingNextPage}>Show more</Button></p>}
            </>
          ))}
        </Answer>
      </Panel>
    </Page>
  );
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: "state" | "trigger" | "locked", value: string) => void navigate({ search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  return (
    <div className={filters["filters"]} role="search">
      <Choose label="State" value={search.state} options={STATES} onChange={(value) => set("state", value)} />
      <Choose label="Why" value={search.trigger} options={REASONS} onChange={(value) => set("trigger", value)} />
      <Choose label="Lock" value={search.locked} options={KEPT} onChange={(value) => set("locked", value)} />
    </div>
  );
}

function CapturesTable({ captures }: { readonly captures: readonly Pcap[] }) {
  return (
    <Table heads={["Began", "State", "About", "Why", "Packets", "Size", "Action"]}>
      {captures.map((capture) => (
        <tr key={capture.id}>
          <td><Link to="/captures/$pcapId" params={{ pcapId: capture.id }}><Moment at={capture.started_at ?? capture.created_at} /></Link></td>
          <td><CaptureState capture={capture} />{capture.state === "failed" && <p className={styles["fault"]}><Foreign text={capture.detail} /></p>}</td>
          <td className={styles["about"]}><About capture={capture} /></td>
          <td><Why capture={capture} /></td>
          <td>{capture.packets.toLocaleString("en")}</td>
          <td className={styles["size"]}>{capture.size_bytes === 0 ? "–" : formatSize(capture.size_bytes)}</td>
          <td><DownloadButton capture={capture} /></td>
        </tr>
      ))}
    </Table>
  );
}

/** Which packets are in a capture. */
export function About({ capture: { filter, ips, macs } }: { readonly capture: Pcap }) {
  const addresses = [...ips, ...macs];
  if (filter !== "") return <code><Foreign text={filter} longest={120} /></code>;
  return addresses.length === 0 ? <>everything</> : <code>{addresses.slice(0, 3).join(", ")}{addresses.length > 3 && ` +${addresses.length - 3}`}</code>;
}

/** Why a capture was made. */
export function Why({ capture: { trigger, alert_ids: alertIds, requested_by: by } }: { readonly capture: Pcap }) {
  const [alertId] = alertIds;
  if (alertId !== undefined) return <><Link to="/alerts/$alertId" params={{ alertId }}>an alert</Link>{alertIds.length > 1 && ` +${alertIds.length - 1}`}</>;
  return <>{trigger === "export" ? "cut" : trigger === "request" ? "started" : "an alert"}{by !== null && <> by <Foreign text={by} longest={60} /></>}</>;
}
