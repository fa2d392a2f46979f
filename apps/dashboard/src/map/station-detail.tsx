import type { Topology, TopologyEdge, TopologyNode } from "@lanthorn/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Facts } from "../fields/facts.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Presence } from "../parts/mark.tsx";
import { Empty } from "../states/answer.tsx";
import { count } from "../texts/count.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { byName, reportsPorts } from "./picture.ts";
import styles from "./station-detail.module.css";
import { kindOf, STATE_TEXTS } from "./station-texts.ts";

const route = getRouteApi("/map");
/** A switch in the middle of a network knows thousands of hosts; the table has all of them. */
const MAX_LINKS = 200;

interface Row {
  readonly edge: TopologyEdge;
  readonly ownPort: string;
  readonly otherPort: string;
  readonly other: TopologyNode | undefined;
}

/** What is chosen on the map: what it is, and each of its links by port. @param props.children What can be done with it. */
export function StationDetail({ topology: { nodes, edges }, id, children }: { readonly topology: Topology; readonly id: string; readonly children: ReactNode }) {
  const navigate = route.useNavigate();
  const node = nodes.find((each) => each.id === id);
  if (!node) return <section className={styles["detail"]}><Empty title="It is not on the map">What was chosen has no link now.</Empty></section>;
  const other = (nodeId: string) => nodes.find((each) => each.id === nodeId);
  const rows = edges.flatMap((edge): readonly Row[] => {
    if (edge.source === id) return [{ edge, ownPort: edge.source_port, otherPort: edge.target_port, other: other(edge.target) }];
    return edge.target === id ? [{ edge, ownPort: edge.target_port, otherPort: edge.source_port, other: other(edge.source) }] : [];
  }).toSorted((one, two) => byName(one.ownPort, two.ownPort) || byName(one.edge.id, two.edge.id));
  return (
    <section className={styles["detail"]} aria-label="What is chosen">
      <header>
        <h2><Foreign text={node.name || "unnamed"} longest={80} /></h2>
        <Button kind="quiet" aria-label="Close" onClick={() => void navigate({ search: (before) => ({ ...before, focus: undefined, hops: undefined }), replace: true })}><Icon name="close" /></Button>
      </header>
      <Facts of={factsOf(node, reportsPorts(id, edges))} />
      {node.device_id !== null && <p><Link to="/devices/$deviceId" params={{ deviceId: node.device_id }}>All that is known of it</Link></p>}
      {children}
      <h3>{count(rows.length, "link")}</h3>
      <ul>
        {rows.slice(0, MAX_LINKS).map((row) => <LinkRow key={row.edge.id} {...row} />)}
      </ul>
      {rows.length > MAX_LINKS && <p>The first {MAX_LINKS} of them. The table has all.</p>}
    </section>
  );
}

function factsOf(node: TopologyNode, isSwitch: boolean): Parameters<typeof Facts>[0]["of"] {
  const known = ([name, text]: readonly [string, string]) => (text === "" ? [] : [[name, <Foreign key={name} text={text} longest={80} />] as const]);
  return [
    ["Type", kindOf(node, isSwitch)], ["State", <Presence key="presence" state={node.presence_state} />],
    ...known(["IP address", node.ip]), ...known(["MAC address", node.mac]), ...known(["Hardware", node.platform]), ...known(["Announces", node.capabilities.slice(0, 8).join(", ")]),
  ];
}

function LinkRow({ edge, ownPort, otherPort, other }: Row) {
  return (
    <li data-state={edge.state}>
      <code>{showForeign(ownPort, 40) || "port unknown"}</code>
      <span>
        {other && <Link to="/map" search={(before) => ({ ...before, focus: other.id })}><Foreign text={other.name || other.ip || other.mac || "unnamed"} longest={60} /></Link>}
        {otherPort !== "" && <> at <code>{showForeign(otherPort, 40)}</code></>}
        <small>{edge.protocols.join(", ").toUpperCase()}{edge.native_vlan !== null && `, VLAN ${edge.native_vlan}`}, {STATE_TEXTS[edge.state]}, <Moment at={edge.last_seen} /></small>
      </span>
    </li>
  );
}
