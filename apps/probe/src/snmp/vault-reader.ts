import type { Clock, Log } from "@lanthorn/runtime";
import type { ExchangeDatagram } from "../identify/datagrams.ts";
import type { OpenSnmp } from "../identify/over-udp.ts";
import { decodeObjectIdentifier } from "@lanthorn/packets";
import { toText } from "../identify/protocol.ts";
import type { SnmpAccess } from "./access.ts";
import { type Binding, TAG } from "./session/pdu.ts";
import { createSnmpSession, type SnmpSession } from "./session/session.ts";

/** Reads some values of whoever answers at a port that a credential is for: what a scan names a service by. */
export function createVaultReader(deps: {
  readonly access: SnmpAccess;
  readonly ask: ExchangeDatagram;
  readonly clock: Pick<Clock, "monotonic">;
  readonly random: () => number;
  readonly log: Log;
}): OpenSnmp {
  const { access, log } = deps;
  return ({ ip, port }, signal) => {
    let session: SnmpSession | null | undefined;
    const open = async (names: readonly string[]) => {
      for (const credential of access.forHost(ip)) {
        if (credential.settings.port !== port || access.refusal(ip, credential) !== null) continue;
        const mayAsk = () => access.isHeld(ip, credential);
        const tried = createSnmpSession({ ...deps, ip, credential, signal, mayAsk, pace: () => Promise.resolve() });
        const values = await tried.get(names);
        if (values) {
          access.noteAnswer(ip, credential);
          session = tried;
          return values;
        }
        const problem = tried.problem();
        if (!problem || signal.aborted || !mayAsk()) continue;
        access.noteProblem(ip, credential, problem);
        if (problem.kind === "silent") continue;
        log.info({ ip, credential: credential.name, reason: problem.text }, "a device refuses its credential");
      }
      session = null;
      return null;
    };
    return {
      async get(names) {
        const values = session === undefined ? await open(names) : await (session?.get(names) ?? null);
        return values && new Map([...values].flatMap(([name, binding]) => textOf(binding).map((text) => [name, text] as const)));
      },
      engineId: () => session?.engineId() ?? "",
    };
  };
}

function textOf({ tag, value }: Binding): readonly string[] {
  if (tag === TAG.octets) return [toText(value)];
  return tag === TAG.objectIdentifier ? [decodeObjectIdentifier(value)] : [];
}
