import { groupBy } from "../group-by.ts";
import type { Layout, Sketch } from "./layout.ts";
import { layOutMesh, type Mesh } from "./mesh.ts";
import { connectRows, fillRows, GAP, type Hanging, placeInRows } from "./rows.ts";
import { joinLayouts, moveLayout, type Unit, unitOf } from "./unit.ts";

type Line = Sketch["lines"][number];

const MARGIN = 16;
/** From a station to the rows below it. */
const STEM = 8;

/**
 * Places stations and cables, the same for the same sketch. Whatever is a tree is laid out as one, in rows that fit a screen; what is left of a mesh is ranked.
 * @param sketch Stations in the order of their names.
 */
export function layOut({ boxes, lines }: Sketch): Layout {
  const units = new Map(boxes.map((box) => [box.id, unitOf(box)]));
  const mesh = collapseTrees(units, lines.filter(({ upper, lower }) => upper !== lower && units.has(upper) && units.has(lower)));
  const components = componentsOf([...units.keys()], mesh);
  const parts = components.map(({ ids, lines: own }): Layout => {
    const [only] = ids;
    return ids.length === 1 && only !== undefined ? unitAt(units, only).layout : layOutMesh(meshOf(ids, own, units));
  });
  return placeParts(parts);
}

/** Joins stations with all that hangs on them and on nothing else, from below. @returns The cables that are left. */
function collapseTrees(units: Map<string, Unit>, lines: readonly Line[]): readonly Line[] {
  let left = lines;
  for (;;) {
    const above = groupBy(left, ({ lower }) => lower);
    const below = groupBy(left, ({ upper }) => upper);
    const hangsOnOne = (id: string) => !below.has(id) && new Set(above.get(id)?.map(({ upper }) => upper)).size === 1;
    const tops = [...below].filter(([, own]) => own.every(({ lower }) => hangsOnOne(lower)));
    if (tops.length === 0) return left;
    const gone = new Set<Line>();
    for (const [id, own] of tops) {
      units.set(id, treeOf(unitAt(units, id), id, hangingOf(own, units)));
      for (const line of own) {
        gone.add(line);
        units.delete(line.lower);
      }
    }
    left = left.filter((line) => !gone.has(line));
  }
}

function treeOf({ layout: top }: Unit, id: string, hanging: readonly Hanging[]): Unit {
  const block = placeInRows({ hanging, uppers: [id] });
  const width = Math.max(top.width, block.layout.width);
  const start = { x: width / 2, y: top.height };
  const rows = connectRows(block, { x: (width - block.layout.width) / 2, y: top.height + STEM }, () => [start]);
  return { layout: joinLayouts([moveLayout(top, { x: (width - top.width) / 2, y: 0 }), rows], { width, height: top.height + STEM + block.layout.height }), entryX: width / 2 };
}

/** What of a mesh ends below the same stations goes into rows together. */
function meshOf(ids: readonly string[], lines: readonly Line[], units: ReadonlyMap<string, Unit>): Mesh {
  const above = groupBy(lines, ({ lower }) => lower);
  const below = groupBy(lines, ({ upper }) => upper);
  const uppersOf = (id: string) => [...new Set(above.get(id)?.map(({ upper }) => upper))].toSorted((one, other) => ids.indexOf(one) - ids.indexOf(other));
  const groups = [...groupBy(ids.filter((id) => !below.has(id)), (id) => JSON.stringify(uppersOf(id)))].filter(([, members]) => members.length > 1);
  const inRows = new Set(groups.flatMap(([, members]) => members));
  return {
    units: new Map(ids.filter((id) => !inRows.has(id)).map((id) => [id, unitAt(units, id)])),
    groups: groups.map(([, members]) => ({ hanging: hangingOf(members.flatMap((id) => above.get(id) ?? []), units), uppers: uppersOf(members[0] ?? "") })),
    lines: lines.filter(({ lower }) => !inRows.has(lower)),
  };
}

function hangingOf(lines: readonly Line[], units: ReadonlyMap<string, Unit>): readonly Hanging[] {
  const rank = new Map([...units.keys()].map((id, index) => [id, index]));
  return [...groupBy(lines, ({ lower }) => lower)].toSorted(([one], [other]) => (rank.get(one) ?? 0) - (rank.get(other) ?? 0)).map(([id, own]) => ({ unit: unitAt(units, id), lines: own }));
}

/** Parts of the network that no cable joins: those with cables first. */
function placeParts(parts: readonly Layout[]): Layout {
  const rows = fillRows(parts.toSorted((one, other) => Number(Object.keys(one.lines).length === 0) - Number(Object.keys(other.lines).length === 0)));
  const placed: Layout[] = [];
  let top = MARGIN;
  for (const row of rows) {
    let x = MARGIN;
    for (const part of row.items) {
      placed.push(moveLayout(part, { x, y: top }));
      x += part.width + GAP.x;
    }
    top += row.height + GAP.y;
  }
  return joinLayouts(placed, { width: Math.max(0, ...rows.map(({ width }) => width)) + 2 * MARGIN, height: top - (rows.length > 0 ? GAP.y : 0) + MARGIN });
}

function componentsOf(ids: readonly string[], lines: readonly Line[]): readonly { readonly ids: readonly string[]; readonly lines: readonly Line[] }[] {
  const at = groupBy([...lines.map((line) => [line.upper, line] as const), ...lines.map((line) => [line.lower, line] as const)], ([id]) => id);
  const seen = new Set<string>();
  return ids.flatMap((start) => {
    if (seen.has(start)) return [];
    const own = new Set([start]);
    // Entries that are added while it runs are visited as well.
    for (const id of own) for (const [, { upper, lower }] of at.get(id) ?? []) own.add(upper).add(lower);
    for (const id of own) seen.add(id);
    return [{ ids: ids.filter((id) => own.has(id)), lines: lines.filter(({ upper }) => own.has(upper)) }];
  });
}

function unitAt(units: ReadonlyMap<string, Unit>, id: string): Unit {
  const unit = units.get(id);
  if (!unit) throw new TypeError(`the map has no station ${id}`);
  return unit;
}
