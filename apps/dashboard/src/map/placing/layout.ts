import type { Cable, Picture, Station } from "../picture.ts";

/** What is laid out: boxes and the cables between them, in pixels. */
export interface Sketch {
  readonly boxes: readonly { readonly id: string; readonly width: number; readonly height: number }[];
  readonly lines: readonly { readonly id: string; readonly upper: string; readonly lower: string; readonly width: number; readonly height: number }[];
}

/** A place of the drawing, in pixels. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Where everything is: the middle of each box and of each cable's label, and the points that a cable goes through. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: Readonly<Record<string, Place>>;
  readonly lines: Readonly<Record<string, { readonly points: readonly Place[]; readonly label: Place }>>;
}

/** A station's box: two lines, and one for each fold. */
export const BOX = { width: 196, head: 50, fold: 24 } as const;
/** The text on a cable: the upper port, protocol and age, the lower port. */
export const LABEL = { width: 128, height: 52 } as const;

/** @returns The height of a station's box. */
export function heightOf({ folds }: Station): number {
  return BOX.head + (folds.length === 0 ? 0 : 4 + folds.length * BOX.fold);
}

/** What of a picture the layout depends on: not the ages of links, so that nothing moves while they grow. */
export function sketchOf({ stations, cables }: Picture): Sketch {
  return {
    boxes: stations.map((station) => ({ id: station.node.id, width: BOX.width, height: heightOf(station) })),
    lines: cables.map(({ edge, upper, lower }: Cable) => ({ id: edge.id, upper, lower, ...LABEL })),
  };
}
