import { VERDICT_FIELDS } from "@lanthorn/fingerprints";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { shownOf, vendorOf, verdictsOf } from "../../identity/verdicts.ts";
import type { DeviceDraft } from "./devices-draft.ts";
import { readVerdictEvidence } from "../store/evidence.ts";
import type { WorkingSet } from "../working-set.ts";

type EvidenceRow = Schema["evidence"];

const FIELDS: ReadonlySet<string> = new Set(VERDICT_FIELDS);

/**
 * Decides anew what the devices are that batches brought evidence of: from all that is known, by whichever probe and interface.
 * What a user set stays. A device with no evidence but names and its interface's vendor costs nothing.
 */
export async function judgeDevices(trx: Kysely<Schema>, sets: readonly WorkingSet[]): Promise<void> {
  const judged = sets.flatMap((set) => judgedAt(set));
  const byId = new Map(judged.map((one) => [one.device.id, one]));
  for (const row of await readVerdictEvidence(trx, judged.filter(({ device }) => !device.isNew).map(({ device }) => device.id))) byId.get(row.device_id)?.evidence.push(row);
  for (const one of judged) judge(one);
}

/** A device, and what is said of it. */
interface Judged {
  readonly set: WorkingSet;
  readonly device: DeviceDraft;
  readonly evidence: EvidenceRow[];
}

/** The devices of a site with new evidence that can change a verdict. */
function judgedAt(set: WorkingSet): readonly Judged[] {
  const heard = new Map<string, EvidenceRow[]>();
  const ids = new Set<string>();
  for (const row of set.evidence.values()) {
    if (!FIELDS.has(row.field)) continue;
    const rows = heard.get(row.device_id);
    if (rows) rows.push(row);
    else heard.set(row.device_id, [row]);
    if (isEvidenceForVerdict(row)) ids.add(row.device_id);
  }
  return [...ids].flatMap((id) => {
    const device = set.devices.get(id);
    return device ? [{ set, device, evidence: heard.get(id) ?? [] }] : [];
  });
}

/** Sources of names, and of the interface's maker, whose word comes with the host's state. */
const STATED: ReadonlySet<string> = new Set(["dhcp", "mdns", "reverse-dns", "oui"]);

function isEvidenceForVerdict({ field, source }: EvidenceRow): boolean {
  return (field !== "hostname" && field !== "vendor") || !STATED.has(source);
}

function judge({ set, device, evidence }: Judged): void {
  const verdicts = verdictsOf(evidence);
  const text = JSON.stringify(verdicts);
  if (text === device.fields.verdicts) return;
  set.set(device, "judged", { verdicts: text });
  const at = evidence.reduce((latest, { seen_at }) => (seen_at > latest ? seen_at : latest), "");
  const change = (field: "os_guess" | "device_type" | "vendor" | "hostname", after: string, source: string) => {
    const before = device.fields[field];
    if (device.locked.has(field) || before === after) return;
    if (field === "os_guess") set.systemChanged(device, at);
    set.set(device, field === "vendor" || field === "hostname" ? "identity" : "judged", { [field]: after });
    if (!device.isNew) set.addChange(device, { at, field, before, after, source });
  };
  const shown = shownOf(verdicts);
  change("os_guess", shown.os_guess, verdicts.os?.sources[0] ?? "");
  change("device_type", shown.device_type, verdicts.device_type?.sources[0] ?? "");
  const vendor = vendorOf(verdicts);
  if (vendor !== null) change("vendor", vendor, verdicts.vendor?.sources[0] ?? "");
  // What it is called by whoever gives out addresses and names comes with its state; what its services call it serves where that
  // is nothing.
  if (device.fields.hostname === "" && verdicts.hostname) {
    change("hostname", verdicts.hostname.value.slice(0, 255), verdicts.hostname.sources[0] ?? "");
  }
}
