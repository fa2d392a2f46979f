import { useEffect, useState } from "react";
import * as z from "zod";
import type { Layout, Sketch } from "../placing/layout.ts";
// The bundler makes it: the address of the file that the worker is built into.
// oxlint-disable-next-line import/default
import workerUrl from "../placing/layout-worker.ts?worker&url";

const Place = z.object({ x: z.number(), y: z.number() });
const LayoutAnswer = z.object({
  width: z.number(), height: z.number(), boxes: z.record(z.string(), Place),
  lines: z.record(z.string(), z.object({ points: z.array(Place), label: Place })),
});

interface ScriptUrls {
  createScriptURL(url: string): string;
}

interface HasTrustedTypes {
  /** Browsers that do not know it enforce nothing. */
  readonly trustedTypes?: { createPolicy(name: string, rules: ScriptUrls): ScriptUrls };
}

let scriptUrls: ScriptUrls | undefined;

/** The address of the worker's program, as the page's policy demands it: nothing else is started by that name. */
function trustedWorkerUrl(): string {
  scriptUrls ??= (globalThis as HasTrustedTypes).trustedTypes?.createPolicy("lanthorn-map", {
    createScriptURL(url) {
      if (url !== workerUrl) throw new TypeError("this is no program of the map");
      return url;
    },
  });
  return scriptUrls?.createScriptURL(workerUrl) ?? workerUrl;
}

/** @returns Where everything is; null until the first layout is there. A sketch that says the same is not laid out again. */
export function useLayout(sketch: Sketch): { readonly layout: Layout; readonly sketch: Sketch } | null {
  const [done, setDone] = useState<{ readonly layout: Layout; readonly sketch: Sketch } | null>(null);
  const text = JSON.stringify(sketch);
  useEffect(() => {
    const asked = JSON.parse(text) as Sketch;
    const worker = new Worker(trustedWorkerUrl(), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      setDone({ layout: LayoutAnswer.parse(data), sketch: asked });
      worker.terminate();
    });
    worker.postMessage(asked, { transfer: [] });
    return () => worker.terminate();
  }, [text]);
  return done;
}
