import { Graph, layout } from "@dagrejs/dagre";
import type { Layout, Place, Sketch } from "./layout.ts";

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
  nodes(): readonly string[];
  node(id: string): Placed;
  edges(): readonly EdgeName[];
  edge(name: EdgeName): Placed;
}

/** A thread of its own: some hundred switches take longer than a frame. Each sketch is answered with its layout. */
addEventListener("message", ({ data }: MessageEvent<Sketch>) => postMessage(layOut(data), { transfer: [] }));

function layOut({ boxes, lines }: Sketch): Layout {
  const graph: LaidOut = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 28, ranksep: 64, marginx: 16, marginy: 16, rankalign: "bottom" });
  for (const { id, width, height } of boxes) graph.setNode(id, { width, height });
  for (const { id, upper, lower, width, height } of lines) graph.setEdge(upper, lower, { width, height, labelpos: "c" }, id);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width: Math.ceil(Math.max(0, width)), height: Math.ceil(Math.max(0, height)),
    boxes: Object.fromEntries(graph.nodes().map((id) => [id, place(graph.node(id))])),
    lines: Object.fromEntries(graph.edges().map((name) => {
      const line = graph.edge(name);
      const bends = (line.points ?? []).slice(1, -1).flatMap((bend) => (bend.x === line.x && bend.y === line.y ? [borderOf(line, -1), borderOf(line, 1)] : [bend]));
      const points = [borderOf(graph.node(name.v), 1), ...bends, borderOf(graph.node(name.w), -1)];
      return [name.name ?? "", { points: points.map(place), label: place(line) }];
    })),
  };
}

function place({ x = 0, y = 0 }: Partial<Place>): Place {
  return { x: Math.round(x), y: Math.round(y) };
}

/** The middle of the lower border (1) or upper border (-1) of a box or label: cables go straight down there, so that none goes behind what is beside it. */
function borderOf({ x = 0, y = 0, height = 0 }: Placed, side: 1 | -1): Place {
  return { x, y: y + side * height / 2 };
}
