import { type IdsTest, type IdsTestResult, MAX_IDS_TEST_BYTES } from "@lanthorn/contract";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, forbidden, notFound, requireSite } from "../../../gateway/errors.ts";
import { toEffective } from "../noise/overrides.ts";
import type { NoiseStore } from "../noise/store.ts";
import type { RulesThread } from "../rules/rules-thread.ts";
import type { RulesetsStore } from "../rulesets/store.ts";
import type { Trials } from "./trials.ts";

/** Stored captures, as they are downloaded: each read is in the audit log, and so is each that is refused. */
export interface StoredCaptures {
  open(actor: Actor, id: string, request: { readonly reason: string | undefined; readonly range: string | undefined; readonly ifRange: undefined }):
  Promise<{ readonly size: number; readonly bytes: AsyncGenerator<Uint8Array> } | { readonly fetching: { readonly size_bytes: number; readonly received_bytes: number } }>;
  refused(actor: Actor, attempt: { readonly action: string; readonly id: string; readonly status: number; readonly reason: string | null }): Promise<void>;
}

/** Tries a rule on a capture. */
export interface TrialsService {
  /** @throws ApiError NOT_FOUND, FORBIDDEN without `pcap:download` for a stored capture, SERVICE_UNAVAILABLE while that comes from its probe, and as `Trials`. */
  test(actor: Actor, scopes: ReadonlySet<string>, wish: IdsTest): Promise<IdsTestResult>;
}

interface TestedRule {
  /** One character a byte. */
  readonly text: string;
  readonly beside: readonly { readonly key: string; readonly text: string }[];
}

/** @param deps.addressesOf Variables of a site that differ from the engine's own. */
export function createTrialsService({ trials, rulesets, noise, thread, captures, addressesOf }: {
  readonly trials: Trials; readonly rulesets: RulesetsStore; readonly noise: NoiseStore; readonly thread: Pick<RulesThread, "ask">; readonly captures: StoredCaptures;
  readonly addressesOf: (tenantId: string, siteId: string) => Promise<Readonly<Record<string, string>>>;
}): TrialsService {
  const findRule = async (tenantId: string, { rule, signature_id: sid, generator_id: gid, site_id: siteId }: IdsTest): Promise<TestedRule> => {
    if (rule !== undefined) return { text: Buffer.from(rule).toString("latin1"), beside: [] };
    const rows = await rulesets.all(null, tenantId);
    const refs = rows.flatMap(({ id, active_version: version, is_enabled: isEnabled, site_id: site }) =>
      (version === null || isEnabled === 0 || (site !== null && siteId !== undefined && site !== siteId) ? [] : [{ rulesetId: id, version }]));
    const overrides = (await noise.overrides(null, tenantId)).map(toEffective);
    const found = refs.length === 0 || sid === undefined ? null : await thread.ask("tested", refs, { overrides, siteId: siteId ?? null, gid, sid });
    if (!found) throw notFound("rule");
    return found;
  };
  return {
    async test(actor, scopes, wish) {
      const { site_id: siteId, pcap_id: pcapId } = wish;
      if (pcapId !== undefined && !scopes.has("pcap:download")) {
        await captures.refused(actor, { action: "pcap.download.refused", id: pcapId, status: 403, reason: wish.reason ?? null });
        throw forbidden("this needs the scope pcap:download", "pcap:download");
      }
      await requireSite(noise, actor.tenantId, siteId);
      let tested: TestedRule = { text: "", beside: [] };
      const result = await trials.run(actor.tenantId, async () => {
        tested = await findRule(actor.tenantId, wish);
        const capture = pcapId === undefined ? { capture: ownBytes(Buffer.from(wish.capture ?? "", "base64")), rest: null } : await readStored(captures, actor, { id: pcapId, reason: wish.reason });
        const rules = ownBytes(Buffer.from([...tested.beside.map(({ text }) => text), tested.text].join("\n"), "latin1"));
        return { rules, addresses: siteId === undefined ? {} : await addressesOf(actor.tenantId, siteId), ...capture };
      });
      return { ...result, rule: lastLine(Buffer.from(tested.text, "latin1").toString()), beside: tested.beside.map(({ key }) => key) };
    },
  };
}

/** Reads the beginning of a stored capture. */
async function readStored(captures: StoredCaptures, actor: Actor, { id, reason }: { readonly id: string; readonly reason: string | undefined }) {
  const opened = await captures.open(actor, id, { reason, range: `bytes=0-${MAX_IDS_TEST_BYTES - 1}`, ifRange: undefined }).catch(async (error: unknown) => {
    if (error instanceof ApiError) await captures.refused(actor, { action: "pcap.download.refused", id, status: error.status, reason: reason ?? null });
    throw error;
  });
  if ("fetching" in opened) {
    const { received_bytes: received, size_bytes: size } = opened.fetching;
    throw new ApiError("SERVICE_UNAVAILABLE", `the file comes from the probe: ${received} of ${size} bytes are here; try again in some seconds`, { headers: { "retry-after": "3" }, isOrdinary: true });
  }
  const { size } = opened;
  const capture = new Uint8Array(Math.min(size, MAX_IDS_TEST_BYTES));
  let at = 0;
  for await (const bytes of opened.bytes) {
    capture.set(bytes.subarray(0, capture.length - at), at);
    at += Math.min(bytes.length, capture.length - at);
  }
  return { capture, rest: size > capture.length ? `the first ${capture.length} bytes of ${size} were read` : null };
}

/** A copy in memory of its own, which can be handed to a thread. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** The rule that was tried, without those before it. */
function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.trim() ?? "";
}
