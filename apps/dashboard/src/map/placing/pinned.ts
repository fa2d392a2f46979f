import { groupBy } from "../group-by.ts";
import { LABEL, type Layout, type Place, type Sketch } from "./layout.ts";

type Box = Sketch["boxes"][number] & Place;
type Line = Sketch["lines"][number];

/** Between the drawing's border and what is pinned. */
const MARGIN = 16;
/** Between what was pushed aside and what is pinned. */
const GAP = 28;
/** Nearer than this, boxes look like one. */
const NEAR = 12;
/** Farther, a mistaken pin would make a map that nobody can scroll. */
const MAX_PLACE = 20_000;
/** How many boxes one gives way to. More are a heap of pins, which somebody made. */
const MAX_PUSHES = 50;

/**
 * Puts stations where people pinned them. All others stay where they were laid out, but for those that would lie under a pinned one: they give way to the right.
 * @param pins The middle of each station's box, by its node's id.
 * @returns The same layout where no pin is of it.
 */
export function pinStations({ layout, sketch, pins }: { readonly layout: Layout; readonly sketch: Sketch; readonly pins: ReadonlyMap<string, Place> }): Layout {
  const all = sketch.boxes.flatMap((box): readonly Box[] => {
    const at = layout.boxes[box.id];
    return at ? [{ ...box, ...at }] : [];
  });
  const pinned = all.flatMap((box) => {
    const at = pins.get(box.id);
    return at ? [{ ...box, x: inside(at.x, box.width), y: inside(at.y, box.height) }] : [];
  });
  if (pinned.length === 0) return layout;
  const placed = [...pinned];
  for (const box of all.filter(({ id }) => !pins.has(id)).toSorted((one, other) => one.y - other.y || one.x - other.x)) placed.push(giveWay(box, placed));
  const boxes = new Map(placed.map((box) => [box.id, box]));
  const lines = { ...layout.lines, ...movedLines({ layout, lines: sketch.lines, boxes }) };
  const right = Math.max(layout.width, ...placed.map(({ x, width }) => x + width / 2 + MARGIN), ...Object.values(lines).map(({ label }) => label.x + LABEL.width / 2));
  const bottom = Math.max(layout.height, ...placed.map(({ y, height }) => y + height / 2 + MARGIN));
  return { width: Math.ceil(right), height: Math.ceil(bottom), boxes: Object.fromEntries(placed.map(({ id, x, y }) => [id, { x, y }])), lines };
}

function inside(at: number, size: number): number {
  return Math.round(Math.min(MAX_PLACE, Math.max(MARGIN + size / 2, at)));
}

function giveWay(box: Box, placed: readonly Box[]): Box {
  let at = box;
  for (let pushes = 0; pushes < MAX_PUSHES; pushes += 1) {
    const { x, y } = at;
    const under = placed.find((other) => Math.abs(other.x - x) < (other.width + box.width) / 2 + NEAR && Math.abs(other.y - y) < (other.height + box.height) / 2 + NEAR);
    if (!under) return at;
    at = { ...at, x: Math.round(under.x + (under.width + box.width) / 2 + GAP) };
  }
  return at;
}

/** The cables of what is no longer where it was laid out. Several between the same two stations are beside each other. */
function movedLines({ layout, lines, boxes }: { readonly layout: Layout; readonly lines: readonly Line[]; readonly boxes: ReadonlyMap<string, Box> }): Layout["lines"] {
  const isMoved = ({ id, x, y }: Box) => layout.boxes[id]?.x !== x || layout.boxes[id]?.y !== y;
  return Object.fromEntries([...groupBy(lines, (line) => `${line.upper}\n${line.lower}`).values()].flatMap((beside) => beside.flatMap((line, index) => {
    const [upper, lower, before] = [boxes.get(line.upper), boxes.get(line.lower), layout.lines[line.id]];
    if (!upper || !lower || !before || !(isMoved(upper) || isMoved(lower))) return [];
    const bend = before.label;
    const isBelow = upper.y + upper.height / 2 < bend.y - LABEL.height;
    // The label stays above a station that stays: many cables of one that moved do not meet in its middle.
    if (!isMoved(lower) && isBelow) return [[line.id, { points: [borderOf(upper, 1), { x: bend.x, y: bend.y - LABEL.height / 2 }, { x: bend.x, y: bend.y + LABEL.height / 2 }, before.points.at(-1) ?? borderOf(lower, -1)], label: bend }] as const];
    return [[line.id, between(upper, lower, (index - (beside.length - 1) / 2) * (LABEL.width + NEAR))] as const];
  })));
}

/** From the border of one box to the nearest of the other: down, up, or to the side where they are beside each other. */
function between(upper: Box, lower: Box, aside: number): Layout["lines"][string] {
  const apart = Math.abs(upper.y - lower.y) - (upper.height + lower.height) / 2;
  const down = upper.y < lower.y ? 1 : -1;
  const right = upper.x < lower.x ? 1 : -1;
  const ends = apart >= 0 ? [borderOf(upper, down), borderOf(lower, -down)] as const
    : [{ x: upper.x + right * upper.width / 2, y: upper.y }, { x: lower.x - right * lower.width / 2, y: lower.y }] as const;
  const label = { x: Math.round((ends[0].x + ends[1].x) / 2 + aside), y: Math.round((ends[0].y + ends[1].y) / 2) };
  return { points: [ends[0], label, ends[1]], label };
}

function borderOf({ x, y, height }: Box, side: number): Place {
  return { x, y: y + side * height / 2 };
}
