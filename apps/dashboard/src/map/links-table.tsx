import type { Topology, TopologyEdge, TopologyNode } from "@lanthorn/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./links-table.module.css";
import { byName, type Picture } from "./picture.ts";

const route = getRouteApi("/map");
const STEP = 200;
const TONES = { up: "good", unknown: "warn", gone: "calm" } as const;

/** The links of the map, those of hosts as well, by the names of their ends. */
export function LinksTable({ topology: { nodes, edges }, picture }: { readonly topology: Topology; readonly picture: Picture }) {
  const [shown, setShown] = useState(STEP);
  const rows = useMemo(() => {
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const drawn = new Set([...picture.cables.map(({ edge }) => edge), ...picture.stations.flatMap(({ folds }) => folds.flatMap(({ hosts }) => hosts.map(({ edge }) => edge)))]);
    return edges.flatMap((edge) => {
      const [source, target] = [byId.get(edge.source), byId.get(edge.target)];
      return source && target && drawn.has(edge) ? [{ edge, source, target }] : [];
    }).toSorted((one, other) => byName(one.source.name, other.source.name) || byName(one.edge.source_port, other.edge.source_port) || byName(one.target.name, other.target.name) || byName(one.edge.id, other.edge.id));
  }, [nodes, edges, picture]);
  return (
    <Panel title={count(rows.length, "link")} isFlush>
      <Table heads={["From", "Port", "To", "Port", "Shown by", "VLAN", "State", "Last seen"]}>{rows.slice(0, shown).map((row) => <LinkRow key={row.edge.id} {...row} />)}</Table>
      {rows.length > shown && <p className={styles["more"]}><Button onClick={() => setShown(shown + STEP)}>Show more</Button></p>}
    </Panel>
  );
}

function LinkRow({ edge, source, target }: { readonly edge: TopologyEdge; readonly source: TopologyNode; readonly target: TopologyNode }) {
  return (
    <tr>
      <td><NodeLink node={source} /></td>
      <td><code><Foreign text={edge.source_port || "–"} longest={40} /></code></td>
      <td><NodeLink node={target} /></td>
      <td><code><Foreign text={edge.target_port || "–"} longest={40} /></code></td>
      <td>{edge.protocols.join(", ").toUpperCase()}</td>
      <td>{edge.native_vlan ?? "–"}</td>
      <td><Mark tone={TONES[edge.state]}>{edge.state}</Mark></td>
      <td><Moment at={edge.last_seen} /></td>
    </tr>
  );
}

function NodeLink({ node }: { readonly node: TopologyNode }) {
  const { focus } = route.useSearch();
  return (
    <Link to="/map" search={(before) => ({ ...before, view: undefined, focus: node.id })} aria-current={focus === node.id ? "true" : undefined} title="Show it on the map">
      <Foreign text={node.name || node.ip || node.mac || "unnamed"} longest={60} />
    </Link>
  );
}
