import { SEALED_PASSWORDS_INFO } from "@lanthorn/contract";
import { ownerOfHoneypotCredential } from "../../../sealing/sealed-columns.ts";
import type { Sealing } from "../../../sealing/sealing.ts";
import type { PasswordSeals } from "../sessions/reaction.ts";

/** Passwords that were tried come sealed for the deployment's public key, and are kept sealed as the vault's secrets are. */
export function passwordSeals(sealing: Pick<Sealing, "seal" | "openSent">): PasswordSeals {
  return {
    seal: (password, id) => sealing.seal(password, ownerOfHoneypotCredential(id)),
    open: (sealed, incidentId) => sealing.openSent(sealed, { info: SEALED_PASSWORDS_INFO, aad: incidentId }),
  };
}
