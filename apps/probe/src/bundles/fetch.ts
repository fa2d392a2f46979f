import { BUNDLE_MANIFEST_MAX_CHARACTERS, BUNDLE_PIECE_BYTES, type BundleManifest, SignedBundle } from "@lanthorn/contract/uplink";
import { parseJson } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import type { CollectorRequests } from "../identity/collector-requests.ts";
import { digestOf } from "./digest.ts";
import { openBundleParts } from "./parts.ts";
import { checkOffer, readSignedBundle } from "./signed.ts";
import { openBundleStore } from "./store.ts";

/** What has come. */
export interface Fetched {
  readonly version: number;
  /** Parts that came over the wire; the others were here. */
  readonly fetched: number;
  readonly parts: number;
}

/** The collector limits how many requests a minute has. */
const MAX_WAITS = 20;
const MAX_WAIT_SECONDS = 60;
/** Of an answer that is no piece: the error envelope. */
const MAX_ANSWER_BYTES = 65_536;

/**
 * Gets the newest version of a bundle, to be installed: only the parts that are not here already, in pieces. It goes on where an earlier call
 * ended, be it in the middle of a part. The version that is used stays as it is.
 * @param deps.maxBytes The most that a version of this kind may have.
 * @param deps.caCertificate Of the CA that was pinned at enrollment, in PEM.
 * @param deps.proceed Waits until so many bytes may go over the wire; rejects when the fetching is to end.
 * @param deps.wait Waits for milliseconds; rejects likewise.
 * @throws ProbeError `bundle-unavailable`, `bundle-refused`, or as `requests.send`.
 */
export async function fetchBundle(deps: {
  readonly name: string;
  readonly dataDir: string;
  readonly maxBytes: number;
  readonly caCertificate: string;
  readonly requests: Pick<CollectorRequests, "send">;
  readonly proceed: (bytes: number, signal: AbortSignal) => Promise<void>;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}): Promise<Fetched> {
  const { name, dataDir, signal } = deps;
  const store = openBundleStore(dataDir, name);
  // Escapes of JSON in JSON may double it.
  const answer = parseJson((await get(deps, "", 2 * BUNDLE_MANIFEST_MAX_CHARACTERS + MAX_ANSWER_BYTES)).toString("utf8"));
  const manifest = readSignedBundle(answer, deps);
  await checkOffer(manifest, { store, maxBytes: deps.maxBytes });
  const parts = openBundleParts(dataDir, name);
  parts.begin(SignedBundle.parse(answer), manifest);
  const here = store.paths();
  let fetched = 0;
  for (const part of new Map(manifest.parts.map((one) => [one.sha256, one])).values()) {
    signal.throwIfAborted();
    if (await digestOf(here.get(part.sha256) ?? "") === part.sha256 || await parts.find(part.sha256) !== null) continue;
    await fetchPart(deps, part);
    fetched += 1;
  }
  return { version: manifest.version, fetched, parts: manifest.parts.length };
}

async function fetchPart(deps: Parameters<typeof fetchBundle>[0], { path, sha256, size }: BundleManifest["parts"][number]): Promise<void> {
  const parts = openBundleParts(deps.dataDir, deps.name);
  const refused = () => new ProbeError("bundle-refused", `the bundle ${deps.name} is refused: ${path} is not what the manifest says`);
  // Longer than it should be, it is damaged, which its checksum shows.
  for (let offset = parts.size(sha256); offset < size || offset === 0; offset = parts.size(sha256)) {
    await deps.proceed(Math.min(BUNDLE_PIECE_BYTES, size - offset), deps.signal);
    const piece = await get(deps, `/parts/${sha256}?offset=${offset}`, BUNDLE_PIECE_BYTES);
    parts.append(sha256, piece);
    if (piece.length === 0) break;
  }
  if (!(await parts.finish(sha256))) throw refused();
}

async function get(deps: Parameters<typeof fetchBundle>[0], path: string, maxBytes: number): Promise<Buffer> {
  let status = 0;
  for (let waits = 0; waits < MAX_WAITS; waits += 1) {
    const answer = await deps.requests.send({
      method: "GET", path: `/api/v1/agents/bundles/${deps.name}${path}`, maxAnswerBytes: Math.max(maxBytes, MAX_ANSWER_BYTES),
    }, deps.signal);
    if (answer.status === 200 && answer.body.length <= maxBytes) return answer.body;
    ({ status } = answer);
    if (status !== 429) break;
    await deps.wait(Math.min(answer.retryAfterSeconds ?? 1, MAX_WAIT_SECONDS) * 1000, deps.signal);
  }
  throw new ProbeError("bundle-unavailable", `the collector answers ${status} for the bundle ${deps.name}`);
}
