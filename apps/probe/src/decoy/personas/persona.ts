/** What a decoy claims to be. All that its services say comes from one persona, so that they do not contradict each other. */
import type { ServiceName } from "../services/names.ts";

/** A service on a port. */
export interface ServicePlace {
  readonly service: ServiceName;
  readonly port: number;
}

/** What its services say. `%h` stands for the decoy's host name. */
export interface Persona {
  /** Where the configuration names no services. */
  readonly services: readonly ServicePlace[];
  /** RFC 4253 section 4.2, without `SSH-2.0-`; null where none of ours would pass for its SSH. */
  readonly ssh: string | null;
  /** Before the login prompt of telnet, and the prompt. */
  readonly telnet: { readonly issue: string; readonly prompt: string; readonly refused: string };
  readonly ftp: { readonly greeting: string; readonly family: "vsftpd" | "plain" };
  readonly http: { readonly server: string; readonly title: string; readonly path: string };
  readonly smtp: string;
  readonly pop3: string;
  readonly imap: string;
  readonly mysql: string;
  /** Its major version. */
  readonly postgres: number;
  readonly memcached: string;
  readonly mongodb: string;
  readonly proxy: string;
  readonly ipp: string;
  /** Its system group. @see RFC 3418 */
  readonly snmp: { readonly description: string; readonly objectId: string; readonly contact: string; readonly location: string; readonly services: number };
  /** Who it says it is in SIP. */
  readonly sip: string;
  /** Its major and minor version, and build: of what speaks NTLM. */
  readonly windows: readonly [major: number, minor: number, build: number];
  /** Whether it shares its documents with who has no name. */
  readonly hasGuestShare: boolean;
  readonly vnc: "003.008" | "003.003";
  /** Of the service that says one line and nothing else. */
  readonly banner: string;
}
