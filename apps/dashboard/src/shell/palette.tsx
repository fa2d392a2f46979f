import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useState } from "react";
import { clock } from "../clock.ts";
import { useAllCommands } from "../keyboard/commands.ts";
import { Dialog } from "../parts/dialog.tsx";
import { deviceName } from "../texts/device-name.ts";
import { showForeign } from "../texts/foreign.tsx";
import { useSession } from "../session/use-session.ts";
import { Keys } from "./keys.tsx";
import styles from "./palette.module.css";

interface Choice {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly keys?: string | undefined;
  readonly run: () => void;
}

/** While somebody types, nothing is asked for. */
const PAUSE_MS = 200;
const MAX_DEVICES = 8;

/** Finds pages and commands by name, and devices by name, IP or MAC address. Enter waits for what is searched, where nothing is found yet. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [isEntered, setEntered] = useState(false);
  const listId = useId();
  const { choices, isWaiting } = useChoices(text);
  const current = Math.min(at, choices.length - 1);
  const run = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    choice.run();
  };
  useEffect(() => {
    if (!isEntered || isWaiting) return;
    setEntered(false);
    run(choices[current]);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt((current + step + choices.length) % Math.max(1, choices.length));
    else if (event.key === "Enter" && isWaiting && choices.length === 0) setEntered(true);
    else if (event.key === "Enter") run(choices[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find" onClose={onClose} isBare>
      <input
        className={styles["input"]} role="combobox" aria-label="A device, a page or a command" aria-expanded="true" aria-controls={listId}
        aria-activedescendant={choices[current] ? `${listId}-${current}` : undefined} placeholder="Name, IP, MAC, page or command"
        value={text} onKeyDown={onKeyDown} spellCheck={false} autoComplete="off"
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
          setEntered(false);
        }}
      />
      <ul id={listId} role="listbox" aria-label="Found" className={styles["list"]}>
        {choices.map((choice, index) => (
          <li
            key={choice.id} id={`${listId}-${index}`} role="option" aria-selected={index === current}
            onMouseMove={() => setAt(index)} onClick={() => run(choice)}
          >
            <bdi>{choice.title}</bdi><span>{choice.note}</span>{choice.keys !== undefined && <Keys keys={choice.keys} />}
          </li>
        ))}
      </ul>
      <p className={styles["foot"]} role="status">
        {choices.length === 0 ? (isWaiting ? "Searching…" : "Nothing has this name or address.") : isWaiting ? "Searching devices…" : `${choices.length} found`}
      </p>
    </Dialog>
  );
}

function useChoices(text: string): { readonly choices: readonly Choice[]; readonly isWaiting: boolean } {
  const { rest } = useSession();
  const navigate = useNavigate();
  const commands = useAllCommands();
  const search = usePause(useDeferredValue(text.trim()));
  const found = useQuery({
    queryKey: ["palette", search], enabled: search.length >= 2, staleTime: 30_000,
    queryFn: () => rest.listDevices({ search, per_page: MAX_DEVICES }),
  });
  const words = text.toLowerCase().trim();
  const ofCommands = commands.filter(({ id, title }) => id !== "palette" && title.toLowerCase().includes(words))
    .map(({ id, title, group, keys, run }) => ({ id, title, note: group, keys, run }));
  // What was found for a text that has changed since may be another device than the one that is meant.
  const isSearched = words === search.toLowerCase();
  const ofDevices = words === "" || !isSearched ? [] : (found.data?.data ?? []).map((device): Choice => ({
    id: device.id, title: showForeign(deviceName(device), 80),
    note: showForeign([device.hostname === "" ? "" : device.ip, device.mac, device.vendor].filter(Boolean).join(" · "), 80),
    run: () => void navigate({ to: "/devices/$deviceId", params: { deviceId: device.id } }),
  }));
  return { choices: [...ofDevices, ...ofCommands], isWaiting: found.isFetching || (words.length >= 2 && !isSearched) };
}

/** @returns The value as it was when it last stayed the same for a moment. */
function usePause(value: string): string {
  const [paused, setPaused] = useState(value);
  useEffect(() => clock.after(PAUSE_MS, () => setPaused(value)), [value]);
  return paused;
}
