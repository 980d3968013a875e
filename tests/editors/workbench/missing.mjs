// Visual Studio Code where the server can't be started: what it says, and what follows when the settings are put right.
// node missing.mjs ADDRESS FOLDER BROWSER PICTURE SETTINGS COMMAND
import { readFile, writeFile } from "node:fs/promises";
import { sit } from "./drive.mjs";

const [address, folder, browser, picture, settings, command] = process.argv.slice(2);
const seen = {};
const seat = await sit(address, folder, "c.campaign", browser);
const { page } = seat;
try {
  const told = page.locator(".notifications-toasts .notification-list-item-message");
  await told.first().waitFor();
  await page.waitForTimeout(1000);
  seen.told = await told.allInnerTexts();
  seen.buttons = await page.locator(".notifications-toasts .notification-list-item-buttons-container .monaco-button").allInnerTexts();
  seen.colour = [await seat.colour("lot"), await seat.colour('"d"')];
  await page.locator(".notifications-toasts .monaco-button", { hasText: "Settings" }).click();
  await page.locator(".settings-editor .setting-item-label", { hasText: "Command" }).first().waitFor();
  const wanted = { ...JSON.parse(await readFile(settings, "utf8")), "campc.command": [command, "lsp"] };
  await writeFile(settings, JSON.stringify(wanted));
  await page.keyboard.press("Escape");
  await page.locator(".settings-editor").waitFor({ state: "hidden" });
  await page.locator(".squiggly-error").first().waitFor();
} catch (failure) {
  seen.failed = String(failure.stack);
  await page.screenshot({ path: picture });
}
process.stdout.write(JSON.stringify(seen));
await seat.close();
