export { type Analyzer, type AnalyzerCounters, type AnalyzerOptions, createAnalyzer } from "./analyzer.ts";
export * from "./flows/flow-key.ts";
export { FLOW_LIMITS, type FlowLimits } from "./flows/flow-limits.ts";
export type { FlowEnding } from "./flows/flow.ts";
export type { FlowRecord } from "./flows/flow-record.ts";
export type { FlowCounters } from "./flows/flow-store.ts";
export { FRAGMENT_LIMITS, type FragmentCounters, type FragmentLimits } from "./fragments/defragmenter.ts";
export type { FlowInspector } from "./flow-inspector.ts";
export { INSPECTION_LIMITS, type InspectionLimits } from "./inspection-limits.ts";
export { createInspection, type Inspection, type InspectionCounters } from "./inspector.ts";
export { type FlowWatch, type OpenFlowWatch, WatchedPacket } from "./watch/packet-watch.ts";
export { recognizeDatagram } from "./recognition/recognize-datagram.ts";
export { recognizeStream } from "./recognition/recognize-stream.ts";
export { createStreamMemory, type HolderWorth, type MemoryHolder, type StreamMemory } from "./streams/memory.ts";
export {
  acceptAcknowledgment, acceptSegment, createStreamCounters, createTcpStream, dropHeld, flushStream, type StreamContext, type StreamCounters, type StreamOutput, type StreamSegment, type TcpStream,
} from "./streams/tcp-stream.ts";
export type { TrafficMessage } from "./traffic-message.ts";
export { decodeCertificate, type TlsCertificate } from "./protocols/tls/certificate.ts";
export { decodeClientHello, type TlsClientHello } from "./protocols/tls/client-hello.ts";
export { createHandshakeJoiner, type HandshakeJoiner } from "./protocols/tls/handshake-joiner.ts";
export { decodeServerHello, type TlsServerHello } from "./protocols/tls/server-hello.ts";
export { decodeKexinit, type SshKexinit } from "./protocols/ssh/kexinit.ts";
export { readSmb1 } from "./protocols/smb/smb1.ts";
export { readSmb2 } from "./protocols/smb/smb2.ts";
export type { SmbFacts } from "./protocols/smb/smb-facts.ts";
export { createQuicParser, type QuicMessage } from "./protocols/quic.ts";
