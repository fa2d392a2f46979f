import { layOut } from "./lay-out.ts";
import type { Sketch } from "./layout.ts";

/** A thread of its own: some hundred switches take longer than a frame. Each sketch is answered with its layout. */
addEventListener("message", ({ data }: MessageEvent<Sketch>) => postMessage(layOut(data), { transfer: [] }));
