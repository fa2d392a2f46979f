import type { Pcap } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Facts } from "../fields/facts.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer } from "../states/answer.tsx";
import { REFETCH_MS, UNDERWAY_MS } from "../states/use-list.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { formatSize } from "../texts/size.ts";
import { AtSite } from "../texts/zone.tsx";
import { CaptureActions } from "./capture-actions.tsx";
import { CaptureContents } from "./capture-contents.tsx";
import { About, Why } from "./captures-page.tsx";
import styles from "./captures-page.module.css";
import { CaptureState, isUnderway } from "./state.tsx";

/** No frame of a LAN is longer. */
const WHOLE_PACKET = 65_535;
const route = getRouteApi("/captures/$pcapId");

/** One capture: how far it is, what is in it, and what can be done with it. */
export function CapturePage() {
  const { rest } = useSession();
  const { pcapId } = route.useParams();
  const capture = useQuery({
    queryKey: ["captures", "one", pcapId], queryFn: () => rest.readPcap(pcapId), refetchInterval: ({ state }) => (state.data && !isUnderway(state.data) ? REFETCH_MS : UNDERWAY_MS),
  });
  const contents = useQuery({ queryKey: ["captures", "one", pcapId, "contents", capture.data?.state], enabled: Boolean(capture.data), queryFn: () => rest.readPcapSummary(pcapId), refetchInterval: false });
  return (
    <Page title="Capture" trail={<Link to="/captures">All captures</Link>} actions={capture.data && <CaptureActions capture={capture.data} />}>
      <AtSite siteId={capture.data?.site_id ?? null}>
        <Answer query={capture}>{(known) => <HowItIs capture={known} />}</Answer>
        {capture.data && <Answer query={contents}>{({ summary }) => <CaptureContents summary={summary} />}</Answer>}
      </AtSite>
    </Page>
  );
}

function HowItIs({ capture }: { readonly capture: Pcap }) {
  const { counters, lock } = capture;
  const at = (moment: string | null) => (moment === null ? "–" : <Moment at={moment} exact />);
  const lost = counters.dropped_by_kernel + counters.dropped_by_probe;
  const facts: Parameters<typeof Facts>[0]["of"] = [
    ["State", <CaptureState key="state" capture={capture} />],
    ["Packets", <>{capture.packets.toLocaleString("en")}{capture.size_bytes > 0 && `, ${formatSize(capture.size_bytes)}`}</>],
    ["About", <About key="about" capture={capture} />], ["Why", <Why key="why" capture={capture} />],
    ["From", at(capture.started_at)], ["To", at(capture.finished_at)],
    ["Interfaces", <Foreign key="interfaces" text={capture.interfaces.join(", ") || "all that are recorded"} longest={120} />],
    ["Of each packet", capture.headers_only ? "headers only" : capture.snap_length === 0 || capture.snap_length >= WHOLE_PACKET ? "all of it" : `its first ${capture.snap_length} bytes`],
    ["Lost", lost === 0 ? "nothing" : `${lost.toLocaleString("en")} of ${counters.received.toLocaleString("en")} frames`],
    ...(lock === null ? [] : [["Locked", <><Foreign text={lock.by} longest={60} />, <Moment at={lock.at} />{lock.reason !== "" && <>: <Foreign text={lock.reason} /></>}</>] as const]),
    ...(capture.sha256 === null ? [] : [["SHA-256", <code key="sha">{capture.sha256}</code>, "wide"] as const]),
  ];
  return (
    <Panel title={<bdi><Foreign text={capture.file_name || "No file yet"} longest={120} /></bdi>}>
      <Facts of={facts} />
      {capture.detail !== "" && <p className={styles["fault"]}><Foreign text={capture.detail} longest={500} /></p>}
    </Panel>
  );
}
