import { expect, test } from "vitest";
import { layOut } from "./lay-out.ts";
import { BOX, LABEL, type Layout, type Sketch } from "./layout.ts";
import { MAX_ROW } from "./rows.ts";

const HEIGHT = 98;
const box = (id: string) => ({ id, width: BOX.width, height: HEIGHT });
const line = (upper: string, lower: string, at = "") => ({ id: `${upper} ${lower}${at}`, upper, lower, ...LABEL });
const names = (of: string, count: number) => Array.from({ length: count }, (_, index) => `${of}-${index}`);

const star: Sketch = { boxes: ["core", ...names("access", 300)].map(box), lines: names("access", 300).map((name) => line("core", name)) };
const floors: Sketch = {
  boxes: ["core", ...names("floor", 10), ...names("floor", 10).flatMap((floor) => names(floor, 29))].map(box),
  lines: [...names("floor", 10).map((floor) => line("core", floor)), ...names("floor", 10).flatMap((floor) => names(floor, 29).map((name) => line(floor, name)))],
};
const spines: Sketch = {
  boxes: [...names("leaf", 60), ...names("spine", 4)].map(box), lines: names("leaf", 60).flatMap((leaf) => names("spine", 4).map((spine) => line(spine, leaf))),
};
const ring: Sketch = { boxes: names("ring", 6).map(box), lines: [["0", "1"], ["0", "2"], ["1", "3"], ["2", "4"], ["3", "5"], ["4", "5"]].map(([upper, lower]) => line(`ring-${upper}`, `ring-${lower}`)) };

/** Boxes and labels that lie over each other. */
function overlapsOf({ boxes, lines }: Layout): readonly string[] {
  const all = [
    ...Object.entries(boxes).map(([id, at]) => ({ id, ...at, width: BOX.width, height: HEIGHT })), ...Object.entries(lines).map(([id, { label }]) => ({ id, ...label, ...LABEL })),
  ];
  return all.flatMap((one, index) => all.slice(index + 1).filter((other) =>
    Math.abs(one.x - other.x) < (one.width + other.width) / 2 - 1 && Math.abs(one.y - other.y) < (one.height + other.height) / 2 - 1).map((other) => `${one.id} ${other.id}`));
}

test.each([["a star of 300 switches", star], ["ten floors of 30 switches", floors], ["leaves that hang on four spines", spines], ["a ring", ring]])(
  "%s: is no wider than what can be read, everything inside it, and nothing over anything else", (_name, sketch) => {
    const layout = layOut(sketch);
    expect(layout.width).toBeLessThanOrEqual(MAX_ROW + 120);
    expect(overlapsOf(layout)).toEqual([]);
    expect(Object.keys(layout.boxes)).toHaveLength(sketch.boxes.length);
    expect(Object.keys(layout.lines)).toHaveLength(sketch.lines.length);
    const places = [...Object.values(layout.boxes), ...Object.values(layout.lines).flatMap(({ points, label }) => [...points, label])];
    expect(places.filter(({ x, y }) => x < 0 || y < 0 || x > layout.width || y > layout.height)).toEqual([]);
  },
);

test.each([["a star", star], ["floors", floors], ["spines", spines], ["a ring", ring]])("%s: every cable goes from the lower border of its upper station to the upper border of its lower one", (_name, sketch) => {
  const { boxes, lines } = layOut(sketch);
  for (const { id, upper, lower } of sketch.lines) {
    const points = lines[id]?.points ?? [];
    expect(points[0]).toEqual({ x: boxes[upper]?.x, y: (boxes[upper]?.y ?? 0) + HEIGHT / 2 });
    const end = points.at(-1);
    expect(end?.y).toBe((boxes[lower]?.y ?? 0) - HEIGHT / 2);
    expect(Math.abs((end?.x ?? 0) - (boxes[lower]?.x ?? 0))).toBeLessThan(BOX.width / 2);
  }
});

test("several cables between the same two stations have a place each", () => {
  const layout = layOut({ boxes: [box("core"), box("access")], lines: [line("core", "access", " 1"), line("core", "access", " 2")] });
  expect(overlapsOf(layout)).toEqual([]);
});

test("stations that no cable joins are in rows as well", () => {
  expect(layOut({ boxes: names("probe", 100).map(box), lines: [] }).width).toBeLessThanOrEqual(MAX_ROW + 120);
  expect(layOut({ boxes: [], lines: [] })).toEqual({ width: 32, height: 32, boxes: {}, lines: {} });
});
