import type { Layout, Place, Sketch } from "./layout.ts";

/** What has one place in the drawing: a station, or a station with all that hangs on it. Its upper left corner is 0, 0. */
export interface Unit {
  readonly layout: Layout;
  /** Where cables from above reach its upper border. */
  readonly entryX: number;
}

/** @returns A station by itself. */
export function unitOf({ id, width, height }: Sketch["boxes"][number]): Unit {
  return { layout: { width, height, boxes: { [id]: { x: width / 2, y: height / 2 } }, lines: {} }, entryX: width / 2 };
}

/** @returns The same, further right and down. */
export function moveLayout({ boxes, lines, ...size }: Layout, { x: right, y: down }: Place): Layout {
  const move = ({ x, y }: Place): Place => ({ x: Math.round(x + right), y: Math.round(y + down) });
  return {
    ...size, boxes: Object.fromEntries(Object.entries(boxes).map(([id, at]) => [id, move(at)])),
    lines: Object.fromEntries(Object.entries(lines).map(([id, { points, label }]) => [id, { points: points.map(move), label: move(label) }])),
  };
}

/** @returns All of them in one drawing of this size. */
export function joinLayouts(parts: readonly Pick<Layout, "boxes" | "lines">[], size: Pick<Layout, "width" | "height">): Layout {
  return {
    width: Math.ceil(size.width), height: Math.ceil(size.height),
    boxes: Object.fromEntries(parts.flatMap(({ boxes }) => Object.entries(boxes))), lines: Object.fromEntries(parts.flatMap(({ lines }) => Object.entries(lines))),
  };
}
