export * from "./decoded.ts";
export * from "./errors.ts";
export * from "./reader.ts";
export * from "./writer.ts";
export * from "./text.ts";
export { createCaptureReader, readCapture } from "./capture-file.ts";
export {
  type CaptureBatch,
  type CaptureFrame,
  type CaptureReader,
  type CaptureRecord,
  MAX_CAPTURE_RECORD_BYTES,
} from "./capture-file-framing.ts";
export type { ByteOrder } from "./capture-file-order.ts";
export { createPcapWriter, type PcapOptions, type PcapWriter } from "./pcap.ts";
export { createPcapngWriter, type PcapngInterface, type PcapngOptions, type PcapngWriter } from "./pcapng-writer.ts";
