import type { Site } from "@lanthorn/contract";
import { Link, Outlet, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type Command, useCommands, useKeyboard } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Icon, Lantern } from "../parts/icon.tsx";
import { useCaller } from "../session/use-session.ts";
import { ZonesOf } from "../texts/zone.tsx";
import { HeldNote } from "./held-note.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { useShownPreferences } from "./kept-preferences.ts";
import { NAV_GROUPS, NAV_ITEMS } from "./nav.ts";
import { Palette } from "./palette.tsx";
import { PreferencesMenu } from "./preferences-menu.tsx";
import styles from "./shell.module.css";
import { SiteSwitch, useSites } from "./site-switch.tsx";

const NO_SITES: readonly Site[] = [];

/** What is around every page: the rail, the top bar, the palette and the keys. */
export function Shell() {
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  const [isRailOpen, setRailOpen] = useState(false);
  const sites = useSites().data?.data ?? NO_SITES;
  const siteId = useSearch({ strict: false, select: ({ site_id }) => site_id ?? null });
  useKeyboard({ isCallerKnown: !useCaller().isPending });
  useShownPreferences();
  useShellCommands(setOpen);
  return (
    <div className={styles["shell"]} data-rail={isRailOpen ? "open" : "closed"}>
      <a className={styles["skip"]} href="#content" onClick={focusContent}>Skip to content</a>
      <nav className={styles["rail"]} aria-label="Pages" onClick={() => setRailOpen(false)}>
        <div className={styles["brand"]}><Lantern /><span>Lanthorn</span></div>
        {NAV_GROUPS.map(({ title, items }) => <ul key={title} aria-label={title}>{items.map((item) => <RailItem key={item.to} {...item} />)}</ul>)}
      </nav>
      <header className={styles["bar"]}>
        <Button kind="quiet" className={styles["menu"]} aria-expanded={isRailOpen} onClick={() => setRailOpen(!isRailOpen)} aria-label="Pages">
          <Icon name="menu" />
        </Button>
        <SiteSwitch />
        <button type="button" className={styles["find"]} onClick={() => setOpen("palette")}>
          <Icon name="search" /><span>Find a device or a page</span><kbd>Ctrl K</kbd>
        </button>
        <PreferencesMenu onHelp={() => setOpen("help")} />
      </header>
      <main className={styles["main"]} id="content" tabIndex={-1}><HeldNote /><ZonesOf sites={sites} siteId={siteId}><Outlet /></ZonesOf></main>
      {open === "palette" && <Palette onClose={() => setOpen(null)} />}
      {open === "help" && <HelpDialog onClose={() => setOpen(null)} />}
    </div>
  );
}

function RailItem({ to, title, icon }: (typeof NAV_ITEMS)[number]) {
  return (
    <li>
      <Link to={to} activeOptions={{ exact: to === "/", includeSearch: false }} className={styles["item"] ?? ""} activeProps={{ "aria-current": "page" }}>
        <Icon name={icon} /><span>{title}</span>
      </Link>
    </li>
  );
}

/** A fragment would be looked for below `<base>`. */
function focusContent(event: React.MouseEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#content")?.focus();
}

function useShellCommands(setOpen: (open: "palette" | "help") => void): void {
  const navigate = useNavigate();
  useCommands(useMemo((): readonly Command[] => [
    { id: "palette", title: "Find a device, a page or a command", group: "Anywhere", keys: "mod+k", run: () => setOpen("palette") },
    { id: "help", title: "Show the keys", group: "Anywhere", keys: "?", run: () => setOpen("help") },
    ...NAV_ITEMS.map(({ to, title, keys }): Command => ({
      id: `go ${to}`, title, group: "Go to", keys, run: () => void navigate({ to }),
    })),
  ], [navigate, setOpen]));
}
