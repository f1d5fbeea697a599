"""Words of graphical applications: verbs that ask for the same or the opposite, things, and what excludes each other.

A line of `VERBS` is a family: words that ask for the same. What stands behind a ``|`` asks for the opposite. A word may
stand in several families, since most verbs have several senses; two texts are told apart only where they share none.
Verbs with a particle are joined by a hyphen. Of `THINGS`, each line holds words for one thing; of `EXCLUSIVE`, words of
which one rules out the others; of `KINDS_OF_THINGS`, things of one kind that are not the same thing.
"""

from __future__ import annotations

from intents.wordlists import word_set

VERBS = """
add create insert make introduce append attach put place draw set install include generate compose establish build
 define enter set-up write apply assign give import load start open schedule duplicate
 | remove delete erase discard drop trash wipe eliminate strip purge uninstall rid take-away take-off take-out throw
 throw-away cut-out dispose clear clean detach forget unset unassign reset
create generate make-up | destroy
remember save store keep | forget discard drop
reduce remove clean suppress lower denoise
accept answer pick-up take | reject decline hang-up end refuse
write create compose jot-down note jot put-down add make-out
empty clear wipe purge delete erase clear-out clean-out | restore fill
open launch reopen load start view bring-up pull-up enter access go | close quit exit dismiss shut leave end shut-down
open reopen unfold expand | close fold
save store export keep write produce render convert download remember print-to turn extract back-up write-out
 | discard lose abandon
import load bring-in ingest | export
show display reveal unhide view see present filter list unfold visible look expand bring-up find read preview
 | hide conceal cover dismiss collapse invisible remove rid blank
show display reveal turn-on switch-on enable visible activate | hide conceal turn-off switch-off disable invisible
 deactivate
enable activate turn-on switch-on tick check allow start set use on active select choose put-on
 | disable deactivate turn-off switch-off untick uncheck stop block mute off inactive clear unselect
start begin play run launch resume record present turn-on continue proceed boot call reproduce use
 | stop pause halt end interrupt abort cancel hold freeze finish quit terminate kill turn-off hang-up suspend
start begin call join | end leave hang-up finish
increase enlarge raise boost grow magnify maximize turn-up amplify larger bigger higher faster louder wider brighter
 more thicker heavier taller longer zoom-in extend scale-up strengthen widen lengthen brighten twice lighten expand
 speed-up intensify
 | decrease reduce lower shrink minimize turn-down smaller slower quieter narrower dimmer fewer less dim soften
 tone-down darken shorten thinner lower zoom-out scale-down weaken narrow cut limit slow-down attenuate half halve
 fade-out darker
speed-up accelerate faster fast-forward quicken quicker | slow-down slower decelerate slow
zoom-in enlarge magnify increase bigger larger closer | zoom-out shrink reduce decrease smaller
brighten brighter lighten lighter | darken darker dim dimmer
fade-in | fade-out
maximize fill full-screen enlarge | minimize iconify
maximize | restore unmaximize
lock protect guard encrypt secure set fix | unlock unprotect decrypt remove release open free
group combine join merge put bundle | ungroup split separate break-up
merge join combine unite concatenate fuse connect blend | split divide separate cut break unmerge unjoin detach
mute silence turn-off stop switch-off disable quiet | unmute turn-on enable switch-on
connect pair link set-up join log-in attach establish online get-online sign-in hook-up plug-in
 | disconnect unpair unlink log-out detach break offline leave unplug sign-out
link connect chain tie | unlink disconnect separate break
install get add set-up put download enable | uninstall remove delete disable
undo revert take-back roll-back reverse restore go-back | redo repeat reapply
pin keep fix stick attach put | unpin release unstick
freeze keep lock fix pin stay | unfreeze release unlock thaw scroll
bookmark mark remember add star save favourite favorite put | unbookmark unstar remove
star mark flag favourite favorite like | unstar unflag unmark remove unlike
send share mail submit forward dispatch transfer transmit post pass pass-on deliver | receive fetch get
upload send transfer put push publish | download fetch get receive pull save
accept approve confirm agree say-yes answer consent allow grant | reject decline refuse cancel deny dismiss disagree
confirm accept answer say-yes press agree ok | cancel abort reject dismiss abandon
allow permit enable unblock let grant give authorize accept | block forbid prevent deny disallow stop disable refuse
 restrict ban revoke
compress zip pack archive zip-up bundle | extract unzip unpack decompress expand
archive file file-away put store | unarchive
copy duplicate clone reproduce put replicate | paste
copy duplicate clone reproduce replicate
paste insert put
cut trim crop shorten remove clip cut-out cut-off cut-down
crop trim cut cut-down
move drag shift relocate put transfer send throw place bring file file-away carry reorder drop
rename call retitle relabel
restore recover get-back bring-back reopen undelete retrieve | delete remove discard erase trash throw throw-away
 move
trash delete remove throw throw-away discard move dispose | restore recover undelete
shuffle randomize mix random | sort order unshuffle
repeat loop replay
sort order arrange rank rearrange organize | shuffle unsort
filter narrow restrict limit show see display | unfilter
search find look look-for seek locate look-up query hunt
replace substitute change swap exchange
swap exchange switch interchange reverse
print put
rotate turn spin tilt
flip mirror reverse turn
reverse invert play flip backwards
convert turn change transform make save produce work-out translate export
calculate compute work-out get find determine evaluate add-up total sum take
sum total add-up calculate add compute
align line-up justify centre center place put make
justify align
bring-front raise bring move lift foreground bring-up bring-forward front
 | send-back lower sink background send-backward back
scroll go move page
scroll-down page-down | scroll-up page-up
move-down lower | move-up raise
record capture take film grab screenshot
subscribe follow join sign-up keep-up | unsubscribe unfollow opt-out leave
mark flag set tag label classify report
tag label mark | untag unlabel
select choose pick highlight mark tick check take use click pick-out set
 | deselect unselect untick uncheck
tick check select choose activate mark enable turn-on switch-on set | untick uncheck deselect deactivate
type enter fill write put give fill-in input key-in insert say
click press push hit choose select tap
expand unfold open show uncollapse extend open-up | collapse fold close hide shrink close-up contract
play start resume run continue begin unpause listen watch reproduce
 | pause halt interrupt stop hold
attach append send include add | detach remove
sign-out log-out log-off | sign-in log-in log-on
sign-in log-in log-on enter join connect | sign-out log-out leave
reply answer respond write-back
forward send pass-on pass share
indent increase | outdent unindent dedent
join enter | leave exit quit
mount attach | unmount eject detach
promote | demote
publish post release | unpublish retract
sharpen | blur soften smooth
refresh reload update renew
resize scale rescale
edit modify adjust change alter correct fix revise update
correct fix repair remove
change set switch adjust choose pick alter customize use update modify vary configure
restart reboot
wrap break | unwrap
comment annotate disable | uncomment
stage add | unstage
commit check-in | rollback
wake wake-up alarm
suspend hibernate | resume wake wake-up
suspend stop hold disable take-out | unsuspend resume enable
hide suppress
trust | distrust untrust
count number tally
number count
go jump navigate skip return turn move switch step advance proceed continue see view open visit get
forward skip advance fast-forward jump | back rewind go-back
advance skip jump next forward continue proceed press
go-forward | go-back return
back return go-back go
invite add | kick remove uninvite
rate mark give score
reset restore clear revert
format style lay-out display set change
format erase
insert add put place embed set
draw sketch paint insert add
highlight mark underline colour color
colour color paint tint fill dye
colour color paint fill set change make
export save produce write render generate print convert keep put turn publish
generate create make produce make-up
visualize plot chart draw create insert
check test verify inspect examine
check fetch get look
fetch get check retrieve pull receive update
translate
browse surf view open visit
answer reply respond pick-up say press choose click
book reserve schedule plan | cancel
schedule plan book set delay postpone
assign give set attach | unassign remove
ban block | unban
encrypt | decrypt
hold keep
fill complete populate enter fill-in
dock | undock
detach separate pop-out move undock open tear-off
attach dock connect
snap align
measure
bold embolden
email mail send
dictate speak
erase wipe delete remove clear format
back-up save copy store | restore
sync synchronize update
scan read
monitor watch track see
submit send
rewind | fast-forward
stretch widen enlarge | squeeze shrink compress
close-up fold collapse
call ring phone dial | hang-up
unarchive restore | archive
"""

LIKE_VERBS = """
flatten merge collapse combine squash unite
archive store put-away file-away shelve file hide
silence mute quieten quiet hush shut-up turn-off switch-off stop
silence mute | unmute
fetch get request retrieve load call query ask
request ask query demand
define set declare specify assign enter determine
specify enter give provide supply set choose type
adjust set tweak tune change alter calibrate modify
ignore block mute skip hide overlook
join enter participate attend | leave exit
leave exit quit part withdraw go-out | stay remain rejoin
freeze pin keep fix stick hold lock
finish complete end conclude wrap-up close | start begin
kill terminate end stop force-quit quit finish finish-off close
appear become go show look
vanish disappear hide go-away | appear
double duplicate copy repeat clone
halve split divide
round shorten limit format
drop remove lose deselect cancel discard throw-out get-rid
throw-out discard remove delete drop dump | keep
vote rate score review like | downvote dislike
review read check look-at examine inspect look
jump go hop move scroll navigate switch leap
note write record jot-down label log mark
label name tag caption title rename
separate split divide part detach isolate | combine join merge
isolate solo separate
arrange order sort line-up lay-out distribute organize position align
distribute spread space arrange
position place move put locate
crop trim clip cut shorten
enter go join visit open
present show share project broadcast stream
share give publish pass grant send present invite | unshare withdraw revoke
stream broadcast transmit cast
revoke withdraw remove cancel retract take-back take-away | grant give issue allow
recall take-back retract withdraw unsend delete remove
draw sketch paint trace doodle scribble
write scribble note annotate comment
annotate comment mark mark-up note write draw highlight scribble
straighten level align rotate
level align even
tidy clean-up format beautify arrange reformat order
reformat format tidy beautify indent
run execute start launch perform do carry-out trigger fire try
execute run perform
trigger start run fire launch initiate
build compile make
debug run step
extract pull-out take-out get separate isolate
approve accept confirm authorize agree sign-off | reject disapprove deny
log record write enter track
pay book enter record transfer
lay-off drop
summarize sum-up condense aggregate total
colour-code highlight colour mark
highlight colour mark emphasize stress stand-out | unhighlight
emphasize highlight stress bold
hear listen play | mute
listen hear play
guard protect lock secure | expose
widen broaden stretch enlarge | narrow
authenticate log-in sign-in
erase rub-out delete remove clear wipe
postpone delay snooze put-off reschedule move
remind alert notify
host start hold run
plan schedule route arrange organize
find-out look-up check determine see
reach get go visit find
expose show reveal
darken dim | brighten
reload refresh update
dismiss close hide ignore cancel
step-back undo go-back
opt-in enable subscribe allow | opt-out disable
boot start power-on turn-on | shut-down power-off turn-off halt
thicken widen | thin narrow
tighten | loosen
insert load put-in | eject take-out remove
paste | cut
upvote like | downvote dislike
clock-in check-in | clock-out check-out
"""
"""Families whose verbs may be meant by each other: enough for finding experience, not for doing it again."""

EXCLUSIVE = """
left right center centre | leftwards rightwards
horizontal vertical | horizontally vertically | landscape portrait | row column | rows columns
ascending descending | clockwise counterclockwise | anticlockwise clockwise
next previous | following previous | forward backward | forwards backwards | up down | upper lower | top bottom
above below | front back | forward back | ahead back | forwards back
dark light | darker lighter | basic advanced | uppercase lowercase | superscript subscript | odd even
read unread | public private | manual automatic | internal external | start end | beginning end
before after | maximum minimum | underline strikethrough | bold italic underline
day week month year
daily weekly monthly yearly
first second third fourth fifth | first last | beginning last
primary secondary | larger smaller | bigger smaller | louder quieter | faster slower | wider narrower | thicker thinner
brighter darker | more fewer | longer shorter | taller shorter | older newer | oldest newest | higher lower
visible invisible | single double | single multiple | online offline | incoming outgoing | input output
high-to-low low-to-high | largest smallest | biggest smallest | cheapest dearest | warmer colder | warmer cooler
sent received | inbox outbox | source destination | sender recipient | inner outer | full empty | facing single
header footer | list icons | list icon | list grid | metric imperial | same new | same another | softer harder
all none | editable read-only | upvote downvote | done undone | finished unfinished | more less | shared private
single two | one both | positive negative | locked unlocked | local remote | male female | morning evening
"""

THINGS = """
picture photo image photograph
folder directory
mail email message e-mail mails emails
site website webpage web-page page
file document
song track tune music
film movie video clip
trash bin wastebasket rubbish recycle-bin
app application program software
screen display monitor
box rectangle frame
shape object figure item
chart diagram graph plot
sheet spreadsheet worksheet
presentation deck slideshow
wifi wi-fi wireless
colour color
gray grey grayscale greyscale monochrome
licence license terms conditions
password passphrase login
mic microphone
camera webcam
volume loudness sound audio
speaker loudspeaker output
headphone headset earphone
bookmark favourite favorite
tab tabs
list listing
sidebar side-bar side-pane pane
letter character glyph
word term
text words letters writing
drive disk
network connection
history log
addon add-on extension plugin plug-in
wallpaper background backdrop
contact person somebody someone
chat conversation dm
group room
meeting appointment event
alarm reminder
note remark annotation
caption subtitle title
heading title header
search-engine search-provider
folder-like collection
comment remark note
notification alert
popup pop-up popups pop-ups
theme style appearance mode
server host remote
link shortcut
junk spam
newsletter newsletters
rule filter
function method symbol
code source
line lines
second 2
third 3
fourth 4
fifth 5
wizard assistant
dialog window
table
average mean
standard default
amount number quantity
private incognito
border frame outline
thumbnail preview
paragraph passage text
headline heading title
font letters type typeface
cell field
value number figure
account mailbox profile
presenter speaker
url address link
entry item record
computer machine pc system
desktop system
internet web online
result output
mistake error
change edit edits changes
panel pane bar sidebar
dropdown drop-down combo combobox
checkbox check-box box option
toolbar bar
folder location path place
archive zip package
picture snapshot still screenshot
area region selection
transparency opacity alpha transparent see-through
tempo rate pace
subtitles subtitle captions caption srt
playlist queue
noise hiss
beginning start opening
last final
upper-case uppercase
book e-book ebook
command-line terminal console shell
repository repo
variable symbol
occurrence instance
mean average
quality resolution
key shortcut
"""

LIKE_THINGS = """
ticket card issue task
task to-do todo job
deadline due-date due
participant attendee member guest
everyone everybody all people others
user person member account
colleague coworker co-worker teammate
boss manager
topic subject title
blank empty
currency money dollar dollars euro euros
decimal digit decimals digits place places
quarter 90
90 ninety | 100 hundred | 10 ten | 20 twenty | 30 thirty | 50 fifty | 1 one | 2 two | 6 six | 7 seven | 8 eight | 9 nine
percent %
duplicate repeat double copy twice
row line record
heading header top
column list field
nickname nick alias handle name
name surname
process program task
ram memory
cpu processor
route direction directions way
place location spot point
aerial satellite
dictionary glossary
chapter section
marker mark flag
metronome click
cursor caret playhead
tabulator tab
blank space
border edge rim margin
note memo
status state presence
friend friends pal buddy contact
game games
update updates upgrade
taskbar dock panel
week seven
month monthly
invoice bill receipt
customer client
outline contour path
clipboard buffer
dark black night
bright light
lock padlock
parent up upper
child sub
room channel
ping notification alert
disk hard-disk computer
talk presentation slideshow
layer layers
canvas picture image
environment env
value content
public open
private secret
key button
choice option
notice message
letter mail
expense payment cost
report statement
overview summary contents
"""
"""Things that may be meant by each other's words: enough for finding experience, not for doing it again."""

KINDS_OF_THINGS = """
picture table chart footnote comment hyperlink textbox formula date heading header footer signature video
 watermark bookmark index symbol equation shape line arrow bullet slide column cell rectangle circle ellipse
red green blue yellow black white orange purple pink brown
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
pdf csv png jpeg jpg html docx odt xlsx ods mp3 mp4 wav ogg svg gif webp tiff epub mobi flac txt
microphone speaker camera keyboard mouse printer headphone touchpad
password username email address phone nickname
voice video
row column cell
chat contact group channel
cookies history cache password downloads bookmark
contrast saturation brightness hue sharpness exposure
bold italic underline strikethrough
wifi bluetooth ethernet vpn
cube sphere cylinder cone plane torus
english german french spanish italian chinese japanese russian
font margin spacing border
tempo pitch volume speed
sheet row column
tab window bookmark
folder file
page selection
layer brush selection
pie bar line
"""

LIGHT = word_set("make get put set give take turn switch use let have go keep do bring work be tell")
"""Verbs that say little by themselves."""

OFTEN_NOUNS = word_set(
    """
    line list view strip record recording filter start end mark set open play print search zip archive display type
    order group link cover rank share star pin block cut split copy change tag star mute scale swap hold press push hit
    reply answer forward sort present picture exchange finish repeat run freeze fix lock boost raise launch clear clean
    empty lower reduce merge close hidden less more no need resume limit back front file format mail call mode fill
    program book name title number color colour plot draw paint film log access save half on off count format style
    post plan test check visit step page stick email frame comment bold export import report input output read random
    find look wake label highlight update reverse stage track watch scan use transfer chain shortcut schedule time
    break border background foreground
    """
)
"""Verbs only where a clause begins."""
