import { Graph, layout } from "@dagrejs/dagre";
import { LABEL, type Layout, type Place, type Sketch } from "./layout.ts";
import { connectRows, type Group, placeInRows } from "./rows.ts";
import { joinLayouts, moveLayout, type Unit } from "./unit.ts";

/** Stations that are joined by more than one way. */
export interface Mesh {
  /** By the id of their topmost station. */
  readonly units: ReadonlyMap<string, Unit>;
  readonly groups: readonly Group[];
  /** Between units. */
  readonly lines: Sketch["lines"];
}

/** What dagre gives a box, a label or the whole; its own types name files that they do not find. */
interface Placed extends Partial<Place> {
  readonly width?: number;
  readonly height?: number;
  readonly points?: readonly Place[];
}

interface EdgeName {
  readonly v: string;
  readonly w: string;
  readonly name?: string;
}

/** As much of dagre's graph as is used. */
interface LaidOut {
  setGraph(options: Readonly<Record<string, string | number>>): unknown;
  setNode(id: string, size: Placed): unknown;
  setEdge(from: string, to: string, label: Placed & { readonly labelpos: "c" }, name: string): unknown;
  graph(): Placed;
  node(id: string): Placed;
  edge(name: EdgeName): Placed;
}

/** Places a mesh in ranks, by dagre; rows of what hangs on the same stations are one box of it. */
export function layOutMesh({ units, groups, lines }: Mesh): Layout {
  const graph: LaidOut = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 28, ranksep: 64, rankalign: "bottom" });
  for (const [id, { layout: { width, height } }] of units) graph.setNode(id, { width, height });
  for (const { id, upper, lower } of lines) graph.setEdge(upper, lower, { ...LABEL, labelpos: "c" }, id);
  const named = groups.map((group, index) => ({ ...group, name: `rows ${index}` }));
  for (const { name, ...group } of named) {
    const { layout: { width, height } } = placeInRows(group);
    graph.setNode(name, { width, height });
    for (const upper of group.uppers) graph.setEdge(upper, name, { width: 0, height: 0, labelpos: "c" }, name);
  }
  layout(graph);
  const placedUnits = [...units].map(([id, unit]) => moveLayout(unit.layout, cornerOf(graph.node(id))));
  const placedGroups = named.map(({ name, hanging, uppers }) => {
    // Now it is known which station is further left; the size stays as it was.
    const block = placeInRows({ hanging, uppers: uppers.toSorted((one, other) => (graph.node(one).x ?? 0) - (graph.node(other).x ?? 0)) });
    return connectRows(block, cornerOf(graph.node(name)), (upper) => wayTo(graph, { v: upper, w: name, name }));
  });
  const between = Object.fromEntries(lines.map(({ id, upper, lower }) => {
    const name = { v: upper, w: lower, name: id };
    const end = cornerOf(graph.node(lower));
    return [id, { points: [...wayTo(graph, name), { x: end.x + (units.get(lower)?.entryX ?? 0), y: end.y }].map(place), label: place(graph.edge(name)) }];
  }));
  const { width = 0, height = 0 } = graph.graph();
  return joinLayouts([...placedUnits, ...placedGroups, { boxes: {}, lines: between }], { width, height });
}

/** From the lower border of the upper station to the last bend. */
function wayTo(graph: LaidOut, name: EdgeName): readonly Place[] {
  const line = graph.edge(name);
  const bends = (line.points ?? []).slice(1, -1).flatMap((bend) => (bend.x === line.x && bend.y === line.y ? [borderOf(line, -1), borderOf(line, 1)] : [place(bend)]));
  return [borderOf(graph.node(name.v), 1), ...bends];
}

function place({ x = 0, y = 0 }: Partial<Place>): Place {
  return { x: Math.round(x), y: Math.round(y) };
}

function cornerOf({ x = 0, y = 0, width = 0, height = 0 }: Placed): Place {
  return { x: x - width / 2, y: y - height / 2 };
}

/** The middle of the lower border (1) or upper border (-1) of a box or label: cables go straight down there, so that none goes behind what is beside it. */
function borderOf({ x = 0, y = 0, height = 0 }: Placed, side: 1 | -1): Place {
  return { x, y: y + side * height / 2 };
}
