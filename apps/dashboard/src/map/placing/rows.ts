import { LABEL, type Layout, type Place } from "./layout.ts";
import { joinLayouts, moveLayout, type Unit } from "./unit.ts";

/** A unit and its cables to stations above it. */
export interface Hanging {
  readonly unit: Unit;
  readonly lines: readonly { readonly id: string; readonly upper: string }[];
}

/** Units that hang on the same stations. */
export interface Group {
  readonly hanging: readonly Hanging[];
  readonly uppers: readonly string[];
}

/** Rows of units below the same stations. Every cable begins at the place of its upper station on the upper border. */
export interface Block {
  readonly layout: Layout;
  readonly entries: Readonly<Record<string, Place>>;
  /** The station above each of these cables. */
  readonly upperOf: ReadonlyMap<string, string>;
}

interface Row<T> {
  readonly items: readonly T[];
  readonly width: number;
  readonly height: number;
}

/** What fits a screen of 1,280 when it is drawn as small as can still be read. */
export const MAX_ROW = 1960;
/** Between units of a row, and between rows. */
export const GAP = { x: 28, y: 40 } as const;
/** As a screen is, once there is more than fits a row. */
const ASPECT = 1.6;
const MIN_ROW = 1400;
/** Between two cables that run beside each other, and around labels. */
const LANE = 12;
/** Between the ends of several cables at one station. */
const PLUG = 20;

/**
 * Fills rows in the order that is given.
 * @returns Rows that are about as wide, together, as the screen's form demands, and never wider than what can be read.
 */
export function fillRows<T extends { readonly width: number; readonly height: number }>(items: readonly T[]): readonly Row<T>[] {
  const area = items.reduce((sum, { width, height }) => sum + (width + GAP.x) * (height + GAP.y), 0);
  const limit = Math.min(MAX_ROW, Math.max(MIN_ROW, Math.sqrt(area * ASPECT)));
  const rows: Row<T>[] = [];
  for (const item of items) {
    const row = rows.at(-1);
    if (row && row.width + GAP.x + item.width <= limit) {
      rows[rows.length - 1] = { items: [...row.items, item], width: row.width + GAP.x + item.width, height: Math.max(row.height, item.height) };
    } else rows.push({ items: [item], width: item.width, height: item.height });
  }
  return rows;
}

/**
 * Places units in rows below the stations that all of them hang on: each station has a cable along every row, and one down the left side to it.
 * @param uppers These stations, from left to right.
 */
export function placeInRows({ hanging, uppers }: Group): Block {
  const cells = hanging.map((each) => ({ ...each, width: Math.max(each.unit.layout.width, each.lines.length * (LABEL.width + LANE) - LANE), height: each.unit.layout.height }));
  const rows = fillRows(cells);
  const lanes = uppers.length * LANE;
  const left = rows.length > 1 ? lanes + LANE : 0;
  const above = lanes + LANE + LABEL.height + LANE;
  const width = left + Math.max(...rows.map((row) => row.width));
  const entries = Object.fromEntries(uppers.map((id, index) => [id, { x: Math.round(width / 2 + (index - (uppers.length - 1) / 2) * PLUG), y: 0 }]));
  const parts: Pick<Layout, "boxes" | "lines">[] = [];
  let top = 0;
  for (const [rowIndex, row] of rows.entries()) {
    // One row is below the middle; further rows begin where the others do.
    let x = rows.length > 1 ? left : (width - row.width) / 2;
    for (const cell of row.items) {
      const at = { x: x + (cell.width - cell.unit.layout.width) / 2, y: top + above };
      parts.push(moveLayout(cell.unit.layout, at), { boxes: {}, lines: Object.fromEntries(cell.lines.map(({ id, upper }, index) => {
        const lane = LANE * (uppers.indexOf(upper) + 1);
        const aside = index - (cell.lines.length - 1) / 2;
        const dropX = x + cell.width / 2 + aside * (LABEL.width + LANE);
        const label = { x: dropX, y: top + lanes + LANE + LABEL.height / 2 };
        const entry = entries[upper] ?? { x: 0, y: 0 };
        const toRow = rowIndex === 0 ? [] : [{ x: lane - LANE, y: lane }, { x: lane - LANE, y: top + lane }];
        const points = [entry, { x: entry.x, y: lane }, ...toRow, { x: dropX, y: top + lane }, { x: dropX, y: label.y + LABEL.height / 2 }, { x: at.x + cell.unit.entryX + aside * PLUG, y: at.y }];
        return [id, { points: points.map(round), label: round(label) }];
      })) });
      x += cell.width + GAP.x;
    }
    top += above + row.height + GAP.y;
  }
  return { layout: joinLayouts(parts, { width, height: top - GAP.y }), entries, upperOf: new Map(hanging.flatMap(({ lines }) => lines.map(({ id, upper }) => [id, upper]))) };
}

/** @returns The rows at their place, with cables that come the whole way from their stations. @param wayFrom From a station to the upper border of the rows. */
export function connectRows({ layout, upperOf }: Block, at: Place, wayFrom: (upper: string) => readonly Place[]): Pick<Layout, "boxes" | "lines"> {
  const { boxes, lines } = moveLayout(layout, at);
  const whole = Object.entries(lines).map(([id, { points, label }]) => {
    const upper = upperOf.get(id);
    return [id, { points: upper === undefined ? points : [...wayFrom(upper).map(round), ...points], label }] as const;
  });
  return { boxes, lines: Object.fromEntries(whole) };
}

function round({ x, y }: Place): Place {
  return { x: Math.round(x), y: Math.round(y) };
}
