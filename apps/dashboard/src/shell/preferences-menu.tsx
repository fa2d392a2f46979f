import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Preferences, setPreference, usePreferences } from "../preferences/preferences.ts";
import { useCaller, useSession } from "../session/use-session.ts";
import styles from "./preferences-menu.module.css";

/** Who is logged in, how this browser shows things, and the way out. */
export function PreferencesMenu({ onHelp }: { readonly onHelp: () => void }) {
  const session = useSession();
  const caller = useCaller();
  const id = useId();
  return (
    <>
      <Button kind="quiet" popoverTarget={id} aria-label="You and this browser"><Icon name="user" /></Button>
      <div id={id} popover="auto" className={styles["menu"]} role="dialog" aria-label="You and this browser">
        {caller.data && (
          <p className={styles["who"]}><strong>{caller.data.user.username}</strong> <span>{caller.data.user.role} of {caller.data.tenant.name}</span></p>
        )}
        <Choice name="theme" label="Colors" options={{ system: "As the system", light: "Light", dark: "Dark" }} />
        <Choice name="zone" label="Times" options={{ local: "Local", utc: "UTC" }} />
        <Choice name="singleKeys" label="Single keys" options={{ on: "On", off: "Off" }} />
        <div className={styles["actions"]}>
          <Button popoverTarget={id} popoverTargetAction="hide" onClick={onHelp}>Keys <kbd>?</kbd></Button>
          <Button onClick={() => void session.logout()}>Log out</Button>
        </div>
      </div>
    </>
  );
}

function Choice<Name extends keyof Preferences>({ name, label, options }: {
  readonly name: Name; readonly label: string; readonly options: Readonly<Record<Preferences[Name], string>>;
}) {
  const chosen = usePreferences()[name];
  return (
    <fieldset className={styles["choice"]}>
      <legend>{label}</legend>
      {(Object.entries(options) as [Preferences[Name], string][]).map(([value, text]) => (
        <label key={value}>
          <input type="radio" name={name} checked={value === chosen} onChange={() => setPreference(name, value)} /><span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
