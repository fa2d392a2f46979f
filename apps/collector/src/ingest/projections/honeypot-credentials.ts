import type { Projection } from "./projection.ts";

/** Passwords are kept sealed by the service of decoys alone: the log has the names. */
export const honeypotCredentials: Projection<"honeypot_credentials"> = {
  hosts: () => [],
  apply({ data }) {
    const { passwords_sealed: _, ...named } = data;
    return { type: "honeypot_credentials", deviceId: null, data, logged: { ...named, tried: data.tried.map((one) => ({ ...one, password: null })) } };
  },
};
