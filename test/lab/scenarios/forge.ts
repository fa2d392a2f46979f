import { existsSync, writeFileSync } from "node:fs";
import { openInjector } from "@lanthorn/packet-io";
import { systemClock } from "@lanthorn/runtime";
import { FORGE_COMMANDS } from "./forge-commands.ts";
import type { ForgeLink } from "./forge-frames.ts";

/**
 * Sends frames that no packaged tool sends, for the scenarios of attackers and look-alikes. It refuses to run on anything but the card of
 * a lab's host, which leads nowhere. Run as: forge.ts COMMAND INTERFACE [ARGUMENTS]
 */
const [name = "", interfaceName = "", ...args] = process.argv.slice(2);
const command = Object.hasOwn(FORGE_COMMANDS, name) ? FORGE_COMMANDS[name] : undefined;
if (!command) throw new Error(`there is no command "${name}"; one of: ${Object.keys(FORGE_COMMANDS).join(", ")}`);
if (interfaceName !== "eth0") throw new Error("it runs in a host of the lab only, whose card is eth0");
/** A file that says when the first frame was sent. */
const begun = process.env["LAB_BEGUN"];
const injector = openInjector({ interface: interfaceName, clock: systemClock });
const link: ForgeLink = {
  interfaceName,
  send(frames) {
    if (begun !== undefined && !existsSync(begun)) writeFileSync(begun, "");
    return injector.send(frames);
  },
  repeat: async ({ everyMs, times }, send) => {
    for (let index = 0; index < times; index += 1) {
      await send(index);
      await new Promise<void>((resolve) => systemClock.after(everyMs, resolve));
    }
  },
};
await command(link, args);
