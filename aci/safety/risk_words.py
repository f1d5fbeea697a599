"""Words by which buttons, fields and windows tell what using them does, in the languages that desktops speak most.

English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese and Japanese. A word that is
missed costs a question that is not asked, a word too many a question too many; neither decides what is done.
"""

from __future__ import annotations

import re
import unicodedata

_DELETE = (
    "delete|remove|erase|wipe|trash|wastebasket|uninstall|destroy|shred|purge|empty (?:the )?(?:trash|wastebasket|bin)|"
    "clear (?:all|history|data|browsing|cache|everything)|löschen|entfernen|deinstallieren|leeren|supprimer|effacer|"
    "désinstaller|vider|eliminar|borrar|suprimir|desinstalar|vaciar|elimina|cancella|rimuovi|svuota|disinstalla|excluir|"
    "apagar|remover|esvaziar|verwijderen|wissen|usuń|skasuj|wymaż|odinstaluj|удалить|стереть|очистить"
)
_SEND = (
    "send|post|publish|submit|senden|absenden|verschicken|veröffentlichen|envoyer|publier|enviar|publicar|invia|"
    "pubblica|verzenden|versturen|publiceren|wyślij|opublikuj|отправить|опубликовать"
)
_PAY = (
    "pay|payment|buy|purchase|order(?! by)|checkout|check out|transfer|donate|subscribe|bezahlen|zahlen|kaufen|"
    "bestellen|überweisen|payer|acheter|commander|régler|pagar|comprar|pedir|paga|acquista|compra|ordina|betalen|kopen|"
    "zapłać|kup|zamów|оплатить|купить|заказать"
)
_LOSE = (
    "discard|don.?t save|do not save|close without saving|overwrite|replace|reset|factory reset|nicht speichern|"
    "verwerfen|überschreiben|ersetzen|zurücksetzen|ne pas enregistrer|fermer sans enregistrer|écraser|remplacer|"
    "réinitialiser|no guardar|descartar|sobrescribir|reemplazar|restablecer|non salvare|sovrascrivi|sostituisci|"
    "não salvar|não guardar|substituir|niet opslaan|overschrijven|vervangen|nie zapisuj|odrzuć|zastąp|не сохранять|"
    "заменить|сбросить"
)
_END = (
    "shut ?down|power off|restart|reboot|log ?out|log off|sign out|herunterfahren|neu starten|neustart|abmelden|"
    "éteindre|redémarrer|se déconnecter|apagar|reiniciar|cerrar sesión|spegni|riavvia|esci dalla sessione|desligar|"
    "afsluiten|wyłącz|wyloguj|выключить|перезагрузить|выйти из системы|"
    "(?:close|deactivate|cancel) (?:my |your |the )?(?:account|subscription|order|membership)"
)
_FORMAT = (
    "format(?=$|…|[.]|[(]| (?:the |this )?(?:disk|drive|volume|partition|device|card|medium|usb|sd))|formatieren|"
    "formater|форматировать"
)
_PREFIXES = (
    "yes|ok|okay|confirm|permanently|now|please|place|complete|proceed to|move to|move to the|and|ja|jetzt|endgültig|"
    "in den|oui|définitivement|mettre à la|sí|si|sim|mover a la|tak|да"
)
_CJK = (
    "删除|刪除|移除|清空|清除|卸载|格式化|发送|傳送|发布|提交|支付|付款|购买|购買|下单|转账|放弃|不保存|覆盖|替换|重置|关机|重启|注销|"
    "削除|消去|アンインストール|送信|投稿|公開|支払|購入|注文|破棄|保存しない|上書き|置換|リセット|シャットダウン|再起動|ログアウト"
)
_TRASH = (
    "trash|wastebasket|rubbish|recycle bin|recycling bin|papierkorb|corbeille|papelera|cestino|lixeira|prullenbak|kosz|"
    "корзина|回收站|废纸篓|ゴミ箱|ごみ箱"
)
_ICONS = "🗑🚮💸💳"

# How the names of buttons begin whose effect cannot be taken back
IRREVERSIBLE = re.compile(
    rf"(?:(?:{_PREFIXES})[\s,:;–-]+)*(?:(?:{_DELETE}|{_SEND}|{_PAY}|{_LOSE}|{_END}|{_FORMAT})\b"
    r"(?! (?:later|filters?|cell|paragraph|text|view|formatting|feedback))|"
    rf"(?:{_CJK}))",
    re.IGNORECASE,
)

# Words in names of pictures and style classes, such as "user-trash-symbolic", that say the same
IRREVERSIBLE_TOKENS = frozenset(
    {
        "delete",
        "trash",
        "remove",
        "erase",
        "send",
        "pay",
        "buy",
        "purchase",
        "checkout",
        "discard",
        "format",
        "uninstall",
    }
)

CLOSING = re.compile(
    r"(?:close|quit|exit|schließen|beenden|fermer|quitter|cerrar|salir|chiudi|esci|fechar|sair|sluiten|afsluiten|"
    r"zamknij|zakończ|закрыть|выйти|выход)\b|关闭|關閉|退出|閉じる|終了",
    re.IGNORECASE,
)
# Names of buttons that say yes to what their dialog asks
AGREEING = re.compile(
    r"(?:yes|ok|okay|confirm|continue|apply|proceed|accept|i agree|ja|bestätigen|weiter|fortfahren|oui|confirmer|"
    r"continuer|sí|aceptar|confirmar|continuar|sì|conferma|continua|sim|doorgaan|tak|potwierdź|да|подтвердить|"
    r"продолжить)\b|确定|確定|确认|是|はい|続行",
    re.IGNORECASE,
)

# What dialogs say that ask before something that cannot be taken back
ASKED = re.compile(
    rf"\b(?:{_DELETE}|{_PAY}|{_LOSE}|{_END}|send|format(?:ting)? (?:the |this )?(?:disk|drive|volume|partition|device)|"
    r"deleted|erased|permanently|cannot be undone|can.t be undone|irreversible|overwritten|already exists|be lost|"
    rf"gelöscht|endgültig|rückgängig|définitivement|irréversible|permanentemente|безвозвратно)\b|(?:{_CJK}|不可撤销|元に戻せ)",
    re.IGNORECASE,
)

TRASH = re.compile(rf"(?:{_TRASH})", re.IGNORECASE)
PASTE = re.compile(
    r"(?:paste|einfügen|coller|pegar|incolla|colar|plakken|wklej|вставить)\b|粘贴|貼り付け", re.IGNORECASE
)
PASSWORD = re.compile(
    r"\b(?:password|passphrase|passcode|pin code|security code|cvv|cvc|passwort|kennwort|mot de passe|contraseña|"
    r"senha|wachtwoord|hasło|пароль)\b|密码|密碼|パスワード",
    re.IGNORECASE,
)
SECRET = re.compile(r"\{\{\s*secret\s*:")  # how texts name a secret that is filled in as they are typed
# Applications that carry out what is typed into them: terminals, and dialogs that run a command
TERMINALS = re.compile(
    r"term(inal|inator)?\b|xterm|konsole|kitty|alacritty|tilix|yakuake|guake|tilda|rxvt|wezterm|foot(client)?\b|"
    r"ghostty|ptyxis|kgx|gnome\.console|sakura|\bst(-256color)?$|warp\b|xfrun4|krunner|rofi|dmenu|gmrun|"
    r"lxqt-runner",
    re.IGNORECASE,
)

FILE_MANAGERS = re.compile(
    r"thunar|nautilus|dolphin|nemo|pcmanfm|caja|org\.gnome\.files|spacefm|doublecmd", re.IGNORECASE
)
MAILERS = re.compile(
    r"thunderbird|evolution|geary|kmail|mailspring|claws|gmail|outlook|\bmail\b|compose", re.IGNORECASE
)
# How titles of windows mark unsaved changes
UNSAVED = re.compile(
    r"^\s*[*•●]|[*•●]\s*$|[*•●] [-–—]|[(\[](?:modified|unsaved|changed|geändert|modifié|modificado|изменён)[)\]]",
    re.IGNORECASE,
)


def tells_irreversible(name: str) -> bool:
    """Tell whether a button's name says that its effect cannot be taken back.

    Mnemonics ("_Delete", "De&lete") and pictures before the word do not count, and a picture of a bin alone does.
    """
    text = unicodedata.normalize("NFKC", name).strip()
    if text and not text.strip("\ufe0f " + _ICONS):
        return True
    plain = (re.sub(r"[_&]", "", text), re.sub(r"[_&]", " ", text))
    return any(IRREVERSIBLE.match(re.sub(r"^[\W_]+", "", each)) for each in plain)


def picture_tells_irreversible(description: str) -> bool:
    """Tell the same of a button without a name, by its tooltip, or the name of its picture or style class."""
    words = set(re.split(r"[^a-z]+", description.casefold()))
    return bool(words & IRREVERSIBLE_TOKENS) or tells_irreversible(description)
