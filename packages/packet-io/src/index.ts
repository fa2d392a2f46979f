export { type CaptureOptions, openCapture } from "./capture.ts";
export type { Capture, CaptureCounters, CapturedFrame, OnFrames, OnLost, PacketIoClock } from "./capture-types.ts";
export { PacketIoError, type PacketIoErrorCode } from "./errors.ts";
export { type Injector, type InjectorOptions, openInjector } from "./injector.ts";
export { type InterfaceAddress, type InterfaceFacts, type Neighbor, readInterface, readNeighborTable } from "./interface-facts.ts";
export { type InterfaceWatchOptions, watchInterface } from "./interface-watch.ts";
export { createPacedSender, type PacedSender, type PacedSendOptions } from "./paced-sender.ts";
export { openReplay, type ReplayOptions } from "./replay.ts";
