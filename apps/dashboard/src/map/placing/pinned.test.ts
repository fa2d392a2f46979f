import { expect, test } from "vitest";
import { layOut } from "./lay-out.ts";
import { BOX, LABEL, type Place, type Sketch } from "./layout.ts";
import { pinStations } from "./pinned.ts";

const names = Array.from({ length: 40 }, (_, index) => `access-${index}`);
const sketch: Sketch = {
  boxes: ["core", ...names].map((id) => ({ id, width: BOX.width, height: 98 })),
  lines: names.map((name) => ({ id: `core ${name}`, upper: "core", lower: name, ...LABEL })),
};
const layout = layOut(sketch);
const pin = (pins: Readonly<Record<string, Place>>) => pinStations({ layout, sketch, pins: new Map(Object.entries(pins)) });

test("without a pin of its own a map stays as it was laid out", () => {
  expect(pin({ "another site's": { x: 100, y: 100 } })).toBe(layout);
});

test("a pinned station is where it was pinned, its cable ends at its border, and nothing else moved", () => {
  const { boxes, lines, height } = pin({ "access-3": { x: 500, y: 3000 } });
  expect(boxes["access-3"]).toEqual({ x: 500, y: 3000 });
  expect(lines["core access-3"]?.points.at(-1)).toEqual({ x: 500, y: 3000 - 49 });
  expect(height).toBeGreaterThanOrEqual(3049);
  expect({ ...boxes, "access-3": null }).toEqual({ ...layout.boxes, "access-3": null });
});

test("what would lie under a pinned station gives way, and no two boxes lie over each other", () => {
  const { boxes, width } = pin({ core: layout.boxes["access-7"] ?? { x: 0, y: 0 } });
  expect(boxes["core"]).toEqual(layout.boxes["access-7"]);
  const all = Object.values(boxes);
  expect(all.flatMap((one, index) => all.slice(index + 1).filter((other) => Math.abs(one.x - other.x) < BOX.width && Math.abs(one.y - other.y) < 98))).toEqual([]);
  expect(Math.max(...all.map(({ x }) => x)) + BOX.width / 2).toBeLessThanOrEqual(width);
});

test("a pin outside of the map is drawn at its border", () => {
  expect(pin({ core: { x: -500, y: -1_000_000 } }).boxes["core"]).toEqual({ x: 16 + BOX.width / 2, y: 16 + 49 });
  expect(pin({ core: { x: 1_000_000, y: 100 } }).boxes["core"]).toEqual({ x: 20_000, y: 100 });
});
