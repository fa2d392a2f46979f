import { useMemo } from "react";
import { type Command, useCommands } from "../../keyboard/commands.ts";
import { Button } from "../../parts/button.tsx";
import { useMay } from "../../session/use-session.ts";
import type { Place } from "../placing/layout.ts";
import styles from "../station-detail.module.css";
import type { Pins } from "./use-pins.ts";

/** One press of an arrow key, in the map's pixels. */
const STEP = 20;
const ARROWS = [["left", "ArrowLeft", -STEP, 0], ["right", "ArrowRight", STEP, 0], ["up", "ArrowUp", 0, -STEP], ["down", "ArrowDown", 0, STEP]] as const;

/** Pins what is chosen where it is, and moves it then. @param props.at The middle of its box; undefined for what has none, as a host. */
export function PinControl({ id, at, pins, isWhole }: { readonly id: string; readonly at: Place | undefined; readonly pins: Pins; readonly isWhole: boolean }) {
  const mayWrite = useMay("devices:write");
  const isPinned = pins.places.has(id);
  const { set, mayPin } = pins;
  const toggle = useMemo(() => (mayPin && at ? () => set(id, isPinned ? null : at) : null), [mayPin, at, set, id, isPinned]);
  useCommands(useMemo((): readonly Command[] => (toggle === null || !at ? [] : [
    { id: "pin", title: isPinned ? "Unpin what is chosen" : "Pin what is chosen", group: "This page", keys: "p", run: toggle },
    ...(isPinned ? ARROWS.map(([way, keys, x, y]): Command => ({
      id: `pin ${way}`, title: `Move what is chosen ${way}`, group: "This page", keys, run: () => set(id, { x: at.x + x, y: at.y + y }),
    })) : []),
  ]), [toggle, at, isPinned, set, id]));
  if (!at || !mayWrite) return null;
  if (toggle === null && !isWhole) return <p>Show the whole map to pin it.</p>;
  // Pins that are not read are awaited, or the page says above why there are none.
  if (toggle === null) return pins.isLoading || pins.error ? null : <p>Choose one site above to pin it.</p>;
  return (
    <div className={styles["pin"]}>
      <Button onClick={toggle}>{isPinned ? "Unpin" : "Pin here"}</Button>
      <output>{isPinned ? `Pinned at ${at.x}, ${at.y}. Arrow keys move it, or drag it.` : ""}</output>
    </div>
  );
}
