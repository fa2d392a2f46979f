import type { Topology } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { Choose } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Page } from "../parts/page.tsx";
import { useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { Answer, Empty, Waiting } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Drawing } from "./drawing/drawing.tsx";
import { useLayout } from "./drawing/use-layout.ts";
import { LinksTable } from "./links-table.tsx";
import styles from "./map-page.module.css";
import { type Picture, pictureOf } from "./picture.ts";
import { PinControl } from "./pins/pin-control.tsx";
import { type Pins, usePins } from "./pins/use-pins.ts";
import { sketchOf } from "./placing/layout.ts";
import { pinStations } from "./placing/pinned.ts";
import { StationDetail } from "./station-detail.tsx";

const route = getRouteApi("/map");
const HOPS = { "": "The whole map", 1: "One cable around it", 2: "Two cables around it", 3: "Three cables around it" };
const NO_PLACES: Pins["places"] = new Map();

/** How the network is cabled: infrastructure with its hosts folded, or the same as a table. */
export function MapPage() {
  const { rest } = useSession();
  const { site_id, include_gone, focus, hops, view } = route.useSearch();
  const topology = useQuery({ queryKey: ["topology", site_id, include_gone], queryFn: () => rest.readTopology({ site_id, include_gone }) });
  const picture = useMemo(() => topology.data && pictureOf(topology.data, { focus, hops: hops === undefined ? undefined : Number(hops) }), [topology.data, focus, hops]);
  return (
    <Page title="Map" isFull note={picture ? noteOf(picture) : "…"}>
      <div className={styles["content"]}>
        <Controls />
        <Answer query={topology}>
          {(answer) => (answer.edges.length === 0 || !picture ? <NoLinks notes={answer.notes} /> : (
            <>
              <Notes topology={answer} />
              {view === "table" ? <LinksTable topology={answer} picture={picture} /> : <Drawn key={siteOf(answer, site_id)} topology={answer} picture={picture} />}
            </>
          ))}
        </Answer>
      </div>
    </Page>
  );
}

/** The drawing with the places that people gave to stations: a site has them for its whole map. */
function Drawn({ topology, picture }: { readonly topology: Topology; readonly picture: Picture }) {
  const { site_id, focus, hops } = route.useSearch();
  const all = usePins(siteOf(topology, site_id));
  const isWhole = hops === undefined;
  const pins = isWhole ? all : { ...all, places: NO_PLACES, mayPin: false };
  const done = useLayout(useMemo(() => sketchOf(picture), [picture]));
  const layout = useMemo(() => done && pinStations({ ...done, pins: pins.places }), [done, pins.places]);
  return (
    <>
      {pins.error && <ErrorNote error={pins.error} onRetry={pins.retry} />}
      <div className={styles["columns"]} data-detail={focus !== undefined}>
        {layout && !pins.isLoading ? <Drawing picture={picture} layout={layout} pins={pins} /> : <Waiting />}
        {focus !== undefined && <StationDetail topology={topology} id={focus}><PinControl id={focus} at={layout?.boxes[focus]} pins={pins} isWhole={isWhole} /></StationDetail>}
      </div>
    </>
  );
}

/** The one site that is shown; undefined for several. */
function siteOf({ nodes }: Topology, chosen: string | undefined): string | undefined {
  const [first, ...others] = new Set(nodes.map(({ site_id }) => site_id));
  return chosen ?? (others.length === 0 ? first : undefined);
}

function noteOf({ stations, cables, hosts }: Picture): string {
  return `${count(stations.length, "station")}, ${count(cables.length, "cable")} between them, ${count(hosts, "host")} at their ports`;
}

function Controls() {
  const { focus, hops, view, include_gone } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: "hops" | "view" | "include_gone", value: string) =>
    void navigate({ search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  useCommands(useMemo((): readonly Command[] => [
    { id: "map or table", title: "Switch between map and table", group: "This page", keys: "t", run: () => void navigate({
      search: (before) => ({ ...before, view: before.view === "table" ? undefined : "table" }), replace: true,
    }) },
    { id: "whole map", title: "Show the whole map", group: "This page", keys: "e", run: () => void navigate({
      search: (before) => ({ ...before, focus: undefined, hops: undefined }), replace: true,
    }) },
  ], [navigate]));
  return (
    <div className={filters["filters"]} role="search">
      <Choose label="View" value={view} options={{ "": "As a map", table: "As a table" }} onChange={(value) => set("view", value)} />
      {focus !== undefined && <Choose label="How much around what is chosen" value={hops} options={HOPS} onChange={(value) => set("hops", value)} />}
      <label><input type="checkbox" checked={include_gone === "true"} onChange={(event) => set("include_gone", event.target.checked ? "true" : "")} />Links that are gone</label>
    </div>
  );
}

/** What cannot be seen, and why, for each site that has something to say. */
function Notes({ topology: { notes, truncated, edges } }: { readonly topology: Topology }) {
  const isSilent = edges.every(({ state }) => state !== "up");
  const sites = useNamesOfSites();
  if (notes.length === 0 && !truncated && !isSilent) return null;
  return (
    <ul className={styles["notes"]}>
      {truncated && <li>There is more than one answer holds: choose a site above.</li>}
      {isSilent && <li>The probes are silent, so these links are as they were last seen. <Link to="/sites">How the probes are</Link></li>}
      {notes.map(({ site_id, code, message }) => <li key={`${site_id} ${code}`}><strong><Foreign text={sites.get(site_id) ?? "A site"} longest={60} /></strong>: {message}</li>)}
    </ul>
  );
}

function useNamesOfSites(): ReadonlyMap<string, string> {
  const { data } = useSites();
  return useMemo(() => new Map(data?.data.map(({ id, name }) => [id, name])), [data]);
}

function NoLinks({ notes }: { readonly notes: Topology["notes"] }) {
  return (
    <Empty title="No link is known yet">
      <p>{notes[0]?.message ?? "No probe has reported a link."}</p>
      <p>Probes listen to LLDP and CDP at their own cable, and ask switches over SNMP when the vault has a credential for the site.</p>
    </Empty>
  );
}
