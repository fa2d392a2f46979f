/** What is said of SMB, in any of its versions. */
import type { NtlmAuthenticate, NtlmChallenge } from "./ntlm.ts";

/** One thing that a message says. */
export type SmbFacts =
  /** Dialects that a client offers: `NT LM 0.12`, `2.1`, `3.1.1`, … */
  | { readonly kind: "negotiate"; readonly dialects: readonly string[] }
  /** The dialect that the server chose: its name, or in version 1 its place in the list, as `#5`. */
  | { readonly kind: "negotiated"; readonly dialect: string; readonly isSigningRequired: boolean }
  /** A login by NTLM. Empty names are an anonymous one. */
  | NtlmAuthenticate
  | NtlmChallenge
  /** The outcome of a login: NTSTATUS, 0 is good. MS-ERREF section 2.3. */
  | { readonly kind: "session-result"; readonly status: number }
  /** `\\server\share`. */
  | { readonly kind: "tree-connect"; readonly path: string }
  | { readonly kind: "tree-result"; readonly status: number }
  /** A file or a pipe is opened or made; `name` is relative to the share. Access mask and disposition: MS-SMB2 section 2.2.13. */
  | { readonly kind: "create"; readonly name: string; readonly desiredAccess: number; readonly disposition: number };

/** A status that says that the login is not over. */
export const STATUS_MORE_PROCESSING = 0xc0000016;

/** Of a path or a name. */
export const MAX_PATH_BYTES = 2048;
