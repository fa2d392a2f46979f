/** Which parser reads which protocol. */
import type { InspectionLimits } from "./inspection-limits.ts";
import { createDhcpParser, createDhcpv6Parser } from "./protocols/dhcp.ts";
import { createDnsDatagramParser, createDnsStreamParser } from "./protocols/dns.ts";
import { createFtpParser } from "./protocols/ftp.ts";
import { createHttpParser } from "./protocols/http.ts";
import { createQuicParser } from "./protocols/quic.ts";
import { createSmbParser } from "./protocols/smb.ts";
import { createSmtpParser } from "./protocols/smtp.ts";
import { createSnmpParser } from "./protocols/snmp.ts";
import { createSshParser } from "./protocols/ssh.ts";
import type { DatagramParser, Hold, Pay, StreamParser } from "./protocols/stream-parser.ts";
import { createTlsParser } from "./protocols/tls.ts";
import type { TrafficMessage } from "./traffic-message.ts";

type Emit = (message: TrafficMessage) => void;
type CreateStreamParser = (emit: Emit, hold: Hold, limits: InspectionLimits) => StreamParser;
type CreateDatagramParser = (emit: Emit, hold: Hold, pay: Pay) => DatagramParser;

/** Of TCP. What is not here is known by its name only. */
export const STREAM_PARSERS: ReadonlyMap<string, CreateStreamParser> = new Map<string, CreateStreamParser>([
  ["dns", createDnsStreamParser],
  ["ftp", createFtpParser],
  ["http", createHttpParser],
  ["smb", createSmbParser],
  ["smtp", createSmtpParser],
  ["ssh", createSshParser],
  ["tls", createTlsParser],
]);

/** Of UDP. */
export const DATAGRAM_PARSERS: ReadonlyMap<string, CreateDatagramParser> = new Map<string, CreateDatagramParser>([
  ["dhcp", createDhcpParser],
  ["dhcpv6", createDhcpv6Parser],
  ["dns", createDnsDatagramParser],
  ["quic", createQuicParser],
  ["snmp", createSnmpParser],
]);
