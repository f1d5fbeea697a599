"""Which applications a text names.

An embedding hardly tells a task in one application from the same in another; that is told here by names, so that
experience with another application is not returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from intents.wordlists import lines, word_set
from intents.words import content_words, stem

_APPLICATIONS = """
calc, localc
writer, lowriter
impress, loimpress
excel
word, microsoft word, ms word, winword
powerpoint
access, microsoft access, ms access
onenote
gnumeric
abiword
onlyoffice
google docs
google sheets
google slides
google drive
google maps
google meet
google chat
google calendar
google photos
google keep
gimp
inkscape
krita
scribus
blender
freecad
openscad
librecad
autocad
fusion 360
sketchup
photoshop
illustrator
indesign
lightroom
premiere, premiere pro
after effects
acrobat
foxit, foxit reader
figma
darktable
rawtherapee
digikam
shotwell
gwenview
vlc
mpv
totem
audacity
ardour
lmms
ableton, ableton live
cubase
fl studio
musescore
sibelius
rhythmbox
clementine
amarok
lollypop
spotify
itunes
handbrake
kdenlive
shotcut
openshot
davinci resolve
obs, obs studio
chromium, chrome, google-chrome, google chrome
firefox
edge, microsoft edge, msedge
safari
brave browser
vivaldi
konqueror
epiphany, gnome web
thunderbird
evolution
geary
kmail
outlook
gmail
korganizer
kontact
gnome calendar
vscode, vs code, visual studio code, code-oss
vscodium
intellij, intellij idea
pycharm
webstorm
android studio
eclipse
netbeans
qt creator
xcode
sublime text
notepad++
notepad
mousepad
gedit
kate
kwrite
geany
emacs
vim, neovim
gnome text editor, gnome-text-editor
thunar
nautilus
dolphin
nemo
pcmanfm
krusader
double commander
total commander
gnome calculator, gnome-calculator, galculator, kcalc
terminal, xterm, konsole, gnome-terminal, gnome terminal, terminator, iterm
evince, document viewer
okular
xournal++, xournal
zathura
calibre
foliate
zotero
mendeley
anki
slack
discord
skype
teams, microsoft teams, ms teams
zoom, zoom meeting, zoom client
webex
mattermost
element desktop
telegram
whatsapp
viber
pidgin
hexchat
jitsi
obsidian
joplin
evernote
notion
confluence
jira
trello
asana
todoist
github desktop
gitkraken
sourcetree
postman
insomnia
dbeaver
pgadmin
mysql workbench
virtualbox
vmware, vmware workstation
virt-manager
remmina
teamviewer
anydesk
filezilla
winscp
putty
transmission
qbittorrent
deluge
nextcloud
owncloud
dropbox
onedrive
keepassxc
keepass
bitwarden
1password
gnucash
homebank
kmymoney
quicken
qgis
arcgis
kicad
wireshark
gparted
gnome disks
gnome software
gnome maps
gnome clocks
gnome weather
gnome contacts
gnome system monitor
synaptic
kde system settings, plasma settings
gnome settings, gnome-control-center, system settings
windows settings
windows explorer, file explorer
finder
pavucontrol
stellarium
"""
"""Names of applications, with the ways they are written. Those that are words of their own are in `_ALSO_WORDS`."""

_ALSO_WORDS = word_set(
    "word access edge zoom teams notion evolution eclipse insomnia dolphin calibre finder transmission safari vim"
    " evince premiere illustrator element"
)
"""Names that count only where they are written like names: with a capital letter behind the first word."""

_NAMES = {alias.strip(): line.split(",")[0].strip() for line in lines(_APPLICATIONS) for alias in line.split(",")}
_ANY_NAME = "|".join(re.escape(alias) for alias in sorted(_NAMES, key=len, reverse=True))
_MAKER = r"(?:(?:LibreOffice|Microsoft|Adobe|Google|Mozilla|Apple|JetBrains|GNOME|KDE)\s+)?"
_NAMED = re.compile(rf"(?<!\w)(?:{_ANY_NAME})(?!\w)")
_NAME = re.compile(
    r"(?<!\w)(?:[Ii]n|[Ii]nside|[Ww]ithin|[Ww]ith|[Uu]sing|[Vv]ia)\s+(?:the\s+)?"
    r"((?:[A-Z]|[a-z]+[A-Z])[\w.+'-]*(?:\s+(?:[A-Z0-9][\w.+'-]*))*)"
)
_SPLIT = re.compile(r"[^0-9a-z+]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAKERS = word_set("gnome kde xfce libreoffice google microsoft apple mozilla adobe windows mate plasma")
_NO_APPLICATION = word_set(
    """
    documents downloads pictures music videos photos desktop home trash templates public files settings calculator
    calendar clocks mail browser web terminal text editor document image viewer system preferences menu file edit view
    insert format tools help window windows linux english german french spanish italian portuguese dutch chinese
    japanese korean russian arabic january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday bold italic save cancel ok
    """
)
"""What else begins with a capital letter: folders, menus, languages, months, and names that many applications share."""


@lru_cache(maxsize=16_384)
def without_applications(text: str) -> str:
    """Return a text without the applications it names: they are compared apart from what is to be done."""
    if not mentioned(text):
        return text
    written = tuple(sorted(set(_NAMED.findall(text.casefold())), key=len, reverse=True))
    plain = " ".join(_in_applications(written).sub(_unless_word, text).split())
    return plain if content_words(plain) else text


@lru_cache(maxsize=1024)
def _in_applications(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds these names with the words around them; one for all names takes many times as long."""
    return re.compile(
        r"(?:(?:^|\s+)(?:in|with|using|of|on|for|from|by means of))?(?:(?:^|\s+)(?:a|an|the|my|our))?(?:^|\s+)"
        rf"{_MAKER}({'|'.join(map(re.escape, names))})(?:'s)?(?!\w)"
        r"(?:\s+(?:browser|editor|text editor|file manager|media player|document|window|application|app|player)(?!\w))?"
        r"\s*[:,]?",
        re.IGNORECASE,
    )


def _unless_word(found: re.Match[str]) -> str:
    return " " if _is_name(found.group(1), found.start(1)) else found.group()


def _is_name(written: str, at: int) -> bool:
    return written.casefold() not in _ALSO_WORDS or (at > 0 and written[0].isupper())


@lru_cache(maxsize=16_384)
def mentioned(text: str) -> frozenset[str]:
    """Return the known applications that a text names."""
    # Matching without regard to case takes several times as long.
    plain = text.casefold()
    written = text if len(text) == len(plain) else plain
    found = (match for match in _NAMED.finditer(plain) if _is_name(written[slice(*match.span())], match.start()))
    return frozenset(_NAMES[match.group()] for match in found)


@lru_cache(maxsize=16_384)
def application(name: str) -> str:
    """Return one name for the ways in which an application is written ("org.gnome.Calculator", "LibreOffice Calc")."""
    if not name:
        return ""
    plain = " ".join(part for part in _SPLIT.split(_CAMEL.sub(" ", name).casefold()) if part)
    known = _NAMED.findall(plain) or _NAMED.findall(name.casefold())
    return _NAMES[known[-1]] if known else plain


def applications_of(query: str, candidates: Iterable[str]) -> frozenset[str]:
    """Return the applications that a query names.

    These are known ones and those of experiences that come into question; where there is none of them, what is named
    like one ("in Gnumeric").
    """
    spaced = f" {' '.join(_SPLIT.split(query.casefold()))} "
    named = _named_like_one(query)
    known = {name for name in map(application, candidates) if name and f" {name} " in spaced}
    known = {name for name in known if name in named or not (name in _ALSO_WORDS or name in _NO_APPLICATION)}
    return mentioned(query) | known or named


@lru_cache(maxsize=1024)
def _named_like_one(query: str) -> frozenset[str]:
    found = set()
    for name in _NAME.findall(query):
        parts = set(name.casefold().split())
        if not name.isupper() and not parts & _NO_APPLICATION and parts - _MAKERS:
            found.add(name.casefold())
    return frozenset(found)


def is_about_another(asked: frozenset[str], key: str, app: str) -> bool:
    """Tell whether an experience is about another application than those that a query names.

    Args:
        asked: What `applications_of` says of the query.
        key: The key of the experience.
        app: The application of the experience; may be empty.
    """
    if not asked or application(app) in asked:
        return False
    named = mentioned(key) | _named_like_one(key)
    about = named | ({application(app)} - {""})
    if not about or asked & about:
        return False
    unknown = asked - _KNOWN
    return not any(name in key.casefold() or _same_name(name, other) for name in unknown for other in about)


_KNOWN = frozenset(_NAMES.values())


def _same_name(name: str, other: str) -> bool:
    """Tell whether two names share a word, as "Telegram" and "Telegram Desktop", and name no two makers."""
    left, right = (frozenset(_SPLIT.split(one)) for one in (name, other))
    makers = left & _MAKERS, right & _MAKERS
    if all(makers) and not makers[0] & makers[1]:
        return False
    return bool(set(map(stem, left - _MAKERS)) & set(map(stem, right - _MAKERS)))
