export * from "./decoded.ts";
export * from "./errors.ts";
export * from "./reader.ts";
export * from "./writer.ts";
export * from "./text.ts";
