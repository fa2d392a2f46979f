import { type Edge, type EdgeLabel, Graph, type GraphLabel, layout, type NodeLabel } from "@dagrejs/dagre";
import type { Layout, Place, Sketch } from "./layout.ts";

/** A thread of its own: some hundred switches take longer than a frame. Each sketch is answered with its layout. */
addEventListener("message", ({ data }: MessageEvent<Sketch>) => postMessage(layOut(data)));

function layOut({ boxes, lines }: Sketch): Layout {
  const graph = new Graph<GraphLabel, NodeLabel, EdgeLabel>({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 28, ranksep: 26, marginx: 16, marginy: 16, rankalign: "bottom" });
  for (const { id, width, height } of boxes) graph.setNode(id, { width, height });
  for (const { id, upper, lower, width, height } of lines) graph.setEdge(upper, lower, { width, height, labelpos: "c" }, id);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as GraphLabel;
  const place = ({ x = 0, y = 0 }: { readonly x?: number; readonly y?: number }): Place => ({ x: Math.round(x), y: Math.round(y) });
  return {
    width: Math.ceil(Math.max(0, width)), height: Math.ceil(Math.max(0, height)),
    boxes: Object.fromEntries((graph.nodes() as readonly string[]).map((id) => [id, place(graph.node(id) as NodeLabel)])),
    lines: Object.fromEntries((graph.edges() as readonly Edge[]).map((edge) => {
      const line = graph.edge(edge) as EdgeLabel;
      const [upper, lower] = [graph.node(edge.v) as NodeLabel, graph.node(edge.w) as NodeLabel];
      const [start, end] = [below(upper, 1), below(lower, -1)];
      return [edge.name ?? "", { points: [start, ...(line.points ?? []).slice(1, -1), end].map(place), label: place(line) }];
    })),
  };
}

/** The middle of a box's lower edge (1) or upper edge (-1): every cable leaves downward, so that none goes behind the box beside. */
function below({ x = 0, y = 0, height = 0 }: NodeLabel, side: 1 | -1): Place {
  return { x, y: y + side * height / 2 };
}
