import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Preferences, usePreferences } from "../preferences/preferences.ts";
import { useCaller, useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { useChoosePreference } from "./kept-preferences.ts";
import styles from "./preferences-menu.module.css";

/** Who is logged in, how things are shown to that person, and the way out. */
export function PreferencesMenu({ onHelp }: { readonly onHelp: () => void }) {
  const session = useSession();
  const caller = useCaller();
  const id = useId();
  const { choose, error } = useChoosePreference();
  return (
    <>
      <Button kind="quiet" popoverTarget={id} aria-label="You and this browser"><Icon name="user" /></Button>
      <div id={id} popover="auto" className={styles["menu"]} role="dialog" aria-label="You and this browser">
        {caller.data && (
          <p className={styles["who"]}><strong>{caller.data.user.username}</strong> <span>{caller.data.user.role} of {caller.data.tenant.name}</span></p>
        )}
        <Choice name="theme" label="Colors" options={{ system: "As the system", light: "Light", dark: "Dark" }} onChoose={choose} />
        <Choice name="zone" label="Times" options={{ local: "Local", utc: "UTC", site: "The site's" }} onChoose={choose} />
        <Choice name="singleKeys" label="Single keys" options={{ on: "On", off: "Off" }} onChoose={choose} />
        {error !== null && <ErrorNote error={error} />}
        <div className={styles["actions"]}>
          <Button popoverTarget={id} popoverTargetAction="hide" onClick={onHelp}>Keys <kbd>?</kbd></Button>
          <Button onClick={() => void session.logout()}>Log out</Button>
        </div>
      </div>
    </>
  );
}

function Choice<Name extends keyof Preferences>({ name, label, options, onChoose }: {
  readonly name: Name; readonly label: string; readonly options: Readonly<Record<Preferences[Name], string>>; readonly onChoose: (choice: Partial<Preferences>) => void;
}) {
  const chosen = usePreferences()[name];
  return (
    <fieldset className={styles["choice"]}>
      <legend>{label}</legend>
      {(Object.entries(options) as [Preferences[Name], string][]).map(([value, text]) => (
        <label key={value}>
          <input type="radio" name={name} checked={value === chosen} onChange={() => onChoose({ [name]: value })} /><span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
