// A process that writes a capture file until it is killed: argument 1 is the folder, 2 the file's id. For tests only.
import { nextTurn } from "@lanthorn/runtime";
import { openCaptureFile } from "../capture-file.ts";
import { fileOptions, udpFrame, viewOf } from "./frames.ts";

const [folder = "", id = ""] = process.argv.slice(2);
const file = openCaptureFile(fileOptions(folder, { id, about: { trigger: "alert", alert_ids: [id], macs: ["02:00:00:00:00:01"], ips: ["10.0.0.1"] } }));
const frame = udpFrame({ payload: new Uint8Array(700) });
for (let n = 0; ; n += 1) {
  const isAdded = file.add(viewOf(frame, n), 0) === "added";
  if (!isAdded) await file.ready();
  if (n % 5000 === 4999) {
    await file.flush();
    process.stdout.write("flushed\n");
  }
  if (n % 100 === 0) await nextTurn();
}
